def price(pieces):
<<<<<<< HEAD
    return 100 * pieces
=======
    return 90 * pieces
>>>>>>> topic
