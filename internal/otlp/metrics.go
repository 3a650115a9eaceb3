package otlp

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Instrument is a metric: a histogram when it has bounds, else a counter that only grows.
type Instrument struct {
	Name, Unit, Description string
	// Bounds are the upper ends of a histogram's buckets, ascending.
	Bounds []float64
}

// pointsLimit bounds how many sets of attributes one instrument keeps apart; beyond it they share one without any.
const pointsLimit = 500

// point adds up what was recorded with one set of attributes.
type point struct {
	set           map[string]any
	count         uint64
	sum, min, max float64
	buckets       []uint64
}

// meter is one instrument's points by their attributes.
type meter struct {
	Instrument
	points map[string]*point
}

func (m *meter) record(v float64, set map[string]any) {
	key := fmt.Sprint(set) // maps print in the order of their keys
	if _, known := m.points[key]; !known && len(m.points) >= pointsLimit {
		key, set = "", nil
	}
	p := m.points[key]
	if p == nil {
		p = &point{set: maps.Clone(set), min: v, max: v, buckets: make([]uint64, len(m.Bounds)+1)}
		m.points[key] = p
	}
	p.count++
	p.sum += v
	p.min, p.max = min(p.min, v), max(p.max, v)
	at, _ := slices.BinarySearch(m.Bounds, v) // a value on a bound belongs below it
	p.buckets[at]++
}

func (m *meter) wire(from, now time.Time) wireMetric {
	w := wireMetric{Name: m.Name, Unit: m.Unit, Description: m.Description}
	var points []wirePoint
	for _, key := range slices.Sorted(maps.Keys(m.points)) {
		p := m.points[key]
		one := wirePoint{Attributes: attributes(p.set), Start: nanos(from), Time: nanos(now)}
		if m.Bounds == nil {
			one.Value = &p.sum
		} else {
			one.Count, one.Sum, one.Min, one.Max, one.Bounds = strconv.FormatUint(p.count, 10), &p.sum, &p.min, &p.max, m.Bounds
			for _, n := range p.buckets {
				one.Buckets = append(one.Buckets, strconv.FormatUint(n, 10))
			}
		}
		points = append(points, one)
	}
	if m.Bounds == nil {
		w.Sum = &wireSum{cumulative, true, points}
	} else {
		w.Histogram = &wireHistogram{cumulative, points}
	}
	return w
}
