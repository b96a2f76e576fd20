package evidence

import (
	"strings"
	"testing"
	"time"

	"pulltrail/timeline"
)

// abbreviated are zones that have an abbreviation of letters, all over the world;
// some share one.
const abbreviated = "Europe/Berlin Europe/London Europe/Dublin Europe/Lisbon Europe/Athens Europe/Moscow Asia/Jerusalem Asia/Kolkata Asia/Karachi Asia/Shanghai " +
	"Asia/Manila Asia/Tokyo Asia/Seoul Asia/Hong_Kong Asia/Jakarta Asia/Makassar Asia/Jayapura Australia/Perth Australia/Adelaide Australia/Sydney Pacific/Auckland " +
	"Pacific/Guam Pacific/Pago_Pago Pacific/Honolulu America/Adak America/Anchorage America/Los_Angeles America/Denver America/Phoenix America/Chicago America/Havana " +
	"America/Mexico_City America/New_York America/Halifax America/St_Johns America/Puerto_Rico Africa/Johannesburg Africa/Nairobi Africa/Lagos Africa/Maputo Atlantic/Canary UTC"

// TestZoneNames: whatever a clock shows with the abbreviation of its zone, the
// span of it holds the instant; where an abbreviation has one meaning, it is exact.
func TestZoneNames(t *testing.T) {
	wide := map[string]bool{"IST": true, "PST": true, "CST": true, "CDT": true}
	for zone := range strings.FieldsSeq(abbreviated) {
		for month := time.January; month <= time.December; month++ {
			at := time.Date(2026, month, 12, 12, 30, 0, 0, location(t, zone))
			name, _ := at.Zone()
			s := moment(at).SpanNamed(name, "x", &Times{})
			if !IsZoneName(name) || !s.Overlaps(at.UnixNano(), at.UnixNano()) || (s.Clock == timeline.Exact) == wide[name] {
				t.Errorf("%s in %s, %s: %s is %s", at.UTC(), zone, name, s, s.Clock)
			}
		}
	}
	m := Moment{Year: 2026, Month: 10, Day: 21, Hour: 12, Resolution: time.Second}
	if s := m.SpanNamed("XST", "x", &Times{}); s.Clock != timeline.NoZone || s.To-s.From != int64(eastmost-westmost) {
		t.Errorf("a name that is none: %s", s)
	}
	if s := m.SpanNamed("XST", "x", &Times{Zone: location(t, "Europe/Berlin")}); s.Clock != timeline.Exact {
		t.Errorf("a name that is none, with --zone: %s", s)
	}
}
