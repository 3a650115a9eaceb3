package scoring

// Calibration holds the confidence of findings against how often they are right.
type Calibration struct {
	// Error is the expected calibration error: the mean distance of the two over the tenths, weighted by findings. Brier is
	// the mean squared distance of each finding. 0 is best.
	Error float64 `json:"error"`
	Brier float64 `json:"brier"`
	// Findings have a confidence, Silent have none.
	Findings int `json:"findings"`
	Silent   int `json:"silent"`
	// Tenths are those that hold findings.
	Tenths []Tenth `json:"tenths"`
}

// Tenth are the findings with a confidence from From up to the next tenth; the last one holds 1 too.
type Tenth struct {
	From       float64 `json:"from"`
	Findings   int     `json:"findings"`
	Confidence float64 `json:"confidence"`
	Right      float64 `json:"right"`
}

func calibrate(graded []Graded) *Calibration {
	var c Calibration
	tenths := make([]Tenth, 10)
	for _, g := range graded {
		for _, f := range g.Findings {
			if f.Confidence == nil {
				c.Silent++
				continue
			}
			right := 0.0
			if f.Fate == FateRight {
				right = 1
			}
			t := &tenths[min(int(*f.Confidence*10), 9)]
			t.Findings, t.Confidence, t.Right = t.Findings+1, t.Confidence+*f.Confidence, t.Right+right
			c.Findings++
			c.Brier += (*f.Confidence - right) * (*f.Confidence - right)
		}
	}
	if c.Findings == 0 {
		return nil
	}
	n := float64(c.Findings)
	c.Brier /= n
	for i, t := range tenths {
		if t.Findings == 0 {
			continue
		}
		k := float64(t.Findings)
		t.From, t.Confidence, t.Right = float64(i)/10, t.Confidence/k, t.Right/k
		c.Error += max(t.Confidence-t.Right, t.Right-t.Confidence) * k / n
		c.Tenths = append(c.Tenths, t)
	}
	return &c
}
