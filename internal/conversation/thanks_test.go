package conversation_test

import (
	"testing"

	"github.com/prloop/prloop/internal/conversation"
)

func TestOnlyThanks(t *testing.T) {
	for _, s := range []string{"Great, thank you!", "Thanks!", "thx 👍🏽", "LGTM", "🎉", "Perfect, thanks @prloop.", "ok", "Looks good to me, thank you so much ❤️", "It’s resolved, thanks", "Thanks for the fix!", "Fixed, thanks.", "LGTM now",
		"Makes sense, thank you.", "👌", "yep, looks good", "Yes, fixed.", "Yes, fixed 👍",
		"Done.", "Fixed in 1a2b3c4.", "Good point, I have pushed a fix.", "Thanks, that fixes it.", "Looks good now.", "Thank you for fixing this so quickly!", "Confirmed fixed.",
		"Looks fine.", "Tested, works fine. Thanks!", "Fine by me.", "That's better, thanks!", "Verified locally, works.", "Nice, approving.", "Sounds good, merging.", "Ah, I see, thanks.", "Fixed in #12.", "Thank you, this looks right now.", "Tested it locally, works.", "Approving this now.", "Good with me 👍",
		"Thank you for the quick fix!", "Thanks @contributor, looks good now.", "@mona-l @acme/shop thanks", "+1", ":+1:", "Thanks for addressing this", "Sounds good", "Sounds good to me!", "Great fix", "Good fix, thanks!",
		"Thanks. Nice fix!", "LGTM :+1:", "LGTM :tada: :heart:", "All good now", "Verified", "Verified, thanks!", "Looks much better, thanks!", "Agreed, looks good now.", "P1 is fixed, thanks.", "P0 was resolved", "Thanks for your prompt fix",
		"Thank you for this change, @mona!", "Much better.", "I've pushed a fix, thanks",
		"Nice refactor!", "Approved.", "Perfect, thanks for the quick turnaround!", "Fixed, thanks for catching that.", "LGTM, ship it!", "Ship it!", "Thank you so much for the fix!", "Great job fixing this!", "Good job", "Nice work.",
		"It is all good now, thanks", "Verified the fix, thanks!", "Fix verified.", "Good to go", "Good to merge!", "That's fixed now, thanks. The fix looks good!", "Fixed by 1a2b3c4d", "SGTM", "Looking good", "Got it, thanks", "I can confirm this is fixed now", "No longer an issue", "Makes sense, thanks for explaining.", "Thanks for the explanation.", "Fair enough.", "Perfect, that solves it.", "Happy to approve.", "No objections.", "Works as expected now.", "Vielen Dank!", "Merci beaucoup", "谢谢", "That's resolved, thank you!", "Thanks, this looks correct now.",
		"Yes, that fixes it.", "Yes, works now, thanks", "Agreed, LGTM", "Nice catch, fixed now", "Good catch, fixed in the last commit, thanks", "You're right, fixed.", "It is fixed", "It is now done 👍",
		"Well done", "Happy with this now", "No further comments", "+1 from me", "Excellent!", "Cool", "Perfect 👍"} {
		if !conversation.OnlyThanks(s) {
			t.Errorf("%q is more than thanks", s)
		}
	}
	for _, s := range []string{
		"This is not fixed.", "Thanks, but it still fails.", "no", "Thank you?", "👎", "Great, and what about empty lists?", "P1", "thanks ```go\nx := 1\n```", "isn't resolved", "Nope",
		"it fails", "Danke, aber nein", "still", "1", "😡", "Great job: revert this", "Fix this!", "Again", "Fix.", "Fix it now!", "Now fix", "Please fix", "You fix it", "Fix the work job", "To be fixed", "...", "> This is wrong",
		"Yes.", "Yep", "Yes, very much so!", "@prloop yes",
		"Confirmed. Good catch, prloop!", "This.", "Not done", "Is it done?", "1a2b3c4 breaks it", "Now this", "Fix this now, thanks", "it is not in 1a2b3c4",
		"not verified", "not all good", "I don't agree it is fixed", "looks good but", "Agreed", "Agreed.", "Agreed, good catch!", "@mona agreed", "@mona", "-1", ":-1:", "Thanks :confused:", "LGTM :x:", "Thanks @mona, but it fails", "Quick fix",
		"Now a good fix", "A better fix", "P1", "P1 is back", "P1 was not fixed", "All this", "For the fix see main.go", "better not", "Is this fixed", "@prloop is this fixed now", "Is it done", "Sounds wrong", "All of it again", "thanks @mona: not fixed", "Thanks for the fix, it fails",
		"So is this fixed", "ok so is it fixed now", "Now this, is this resolved", "So this is fixed now", "Fixing this is your job now", "Fixing this is in your job now", "your job is fixing it", "Fixing it now", "Addressing this now",
		"So much for your fix!", "ok, so much for the quick fix", "So so much for this fix", "This is now in for fixing", "Great job fixing nothing", "Ack", "Yes, thanks for catching that", "Not approved", "To be approved", "Don't ship it", "A nice refactor is in main.go",
		"Correct this", "That's fixed now, but it fails", "Is that fixed", "The fix looks good, but", "Still an issue", "Confirmed in 1a2b3c4.", "Yes 1a2b3c4", "This is in deadbeef", "1a2b3c4", "Thanks :(", "LGTM :-/", "Objections: it fails", "Works as expected by nobody", "For explaining it", "Fixed by hand", "That's not fixed", "I cannot confirm this is fixed", "Got it wrong", "Verify the fix", "Not good to go", "Good to go?", "The fix verified nothing", "Verified the fix: it fails", "Is it good to go", "Looks correct but",
		"Refactor this", "this is your fix", "turnaround",
		"Yes 👍", "agreed ✔", "confirmed 👍", "Good catch 👍", "Good catch!", "Good point 👍", "yes yes ✅", "Good point, yes :+1:", "Yes, fine 👍",
		"This is not fine", "looks fine but still divides by zero", "Not fine by me", "Fine, but not for empty lists", "Looks fine only to you", "Nothing works fine", "Hardly fine", "Fine if you test it", "Is it fine",
		"Tested", "Tested, fails", "Not tested", "Tested locally.", "Tested locally, it crashes", "Works only locally", "I see.", "I see it fails", "Ah, I see, it fails", "Not merging this", "Not approving", "I am not approving this", "Approving this is wrong", "Merging this is your work", "Merging it all now is work",
		"Excellent catch!", "Awesome catch 👍", "Brilliant point", "Wonderful catch, thanks", "Good catch, thanks!", "Thanks for catching this", "Great point, thanks",
		"Yes, thanks!", "Yes it is. Thanks!", "Yes, it is, thanks.", "It is. Thanks", "It is 😀", "Ok yes", "Yes, ok", "Yes, cool", "Yes, sounds it", "Yes, verified", "Confirmed, thanks", "Agreed, makes sense", "Agreed. Ok.", "Ack, thanks", "Yes, nice work", "Yes, fair enough",
		"You're right", "You're right, thanks", "You are right 👍", "Happy with this if tested", "Not happy with this", "No comments", "No further comments but one", "+1 from me if it is fixed", "Not well done", "To be fixed in the last commit",
		"Not fixed in #12", "To be fixed in #12", "#12", "See #12", "That's worse", "That's it", "That's not better", "Right.", "Looks right only in tests", "Does not look right", "That's still not right",
	} {
		if conversation.OnlyThanks(s) {
			t.Errorf("%q is only thanks", s)
		}
	}
}
