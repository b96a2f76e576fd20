package evidence

import (
	"time"

	"pulltrail/timeline"
)

// zoneOffsets are the abbreviations of time zones that the tz database uses today,
// with the offsets that they stand for, from west to east, in hours: some are used
// in several parts of the world.
// https://www.iana.org/time-zones
var zoneOffsets = map[string][2]float64{
	"UTC": {}, "GMT": {}, "UCT": {}, "WET": {}, "WEST": {1, 1}, "BST": {1, 1}, "CET": {1, 1}, "CEST": {2, 2}, "EET": {2, 2}, "EEST": {3, 3}, "MSK": {3, 3},
	"IST": {1, 5.5}, // Ireland, Israel, India
	"IDT": {3, 3}, "SAST": {2, 2}, "CAT": {2, 2}, "EAT": {3, 3}, "WAT": {1, 1}, "PKT": {5, 5},
	"WIB": {7, 7}, "WITA": {8, 8}, "WIT": {9, 9}, "HKT": {8, 8}, "JST": {9, 9}, "KST": {9, 9}, "AWST": {8, 8},
	"ACST": {9.5, 9.5}, "ACDT": {10.5, 10.5}, "AEST": {10, 10}, "AEDT": {11, 11}, "NZST": {12, 12}, "NZDT": {13, 13}, "ChST": {10, 10},
	"SST": {-11, -11}, "HST": {-10, -10}, "HDT": {-9, -9}, "AKST": {-9, -9}, "AKDT": {-8, -8},
	"PST": {-8, 8}, "PDT": {-7, -7}, "MST": {-7, -7}, "MDT": {-6, -6}, // Manila has PST too
	"CST": {-6, 8}, "CDT": {-5, -4}, // Chicago, Havana and Shanghai
	"EST": {-5, -5}, "EDT": {-4, -4}, "AST": {-4, -4}, "ADT": {-3, -3}, "NST": {-3.5, -3.5}, "NDT": {-2.5, -2.5},
}

// IsZoneName reports whether a word is an abbreviation of a time zone.
func IsZoneName(name string) bool {
	_, ok := zoneOffsets[name]
	return ok
}

// SpanNamed is Span for a moment behind which the abbreviation of its zone stands:
// exact where that has one meaning, wide enough for all of them where it has
// several, and as without a zone where it has none that is known.
func (m Moment) SpanNamed(zone, written string, t *Times) timeline.Span {
	hours, ok := zoneOffsets[zone]
	if !ok || m.HasOffset || m.Year == 0 || m.Wrong {
		return m.Span(written, t)
	}
	m.HasOffset = true
	m.Offset = time.Duration(hours[1] * float64(time.Hour))
	s := m.Span(written, t)
	if hours[0] == hours[1] || s.Clock != timeline.Exact {
		return s
	}
	s.To += int64((hours[1] - hours[0]) * float64(time.Hour))
	s.Clock = timeline.NoZone
	return s
}
