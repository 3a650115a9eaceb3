from dataclasses import dataclass, field


@dataclass
class Line:
    sku: str
    cents: int
    quantity: int = 1


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, sku, cents, quantity=1):
        self.lines.append(Line(sku, cents, quantity))

    def total(self):
        return sum(line.cents * line.quantity for line in self.lines)
