package matchers

import "pulltrail/timeline"

// dispositions puts beside each finding what people said of its subject.
func (res *Result) dispositions(db *timeline.DB) error {
	decisions, err := db.Decisions()
	if err != nil {
		return err
	}
	said := map[string][]timeline.Decision{}
	for _, d := range decisions {
		if d.Act == timeline.Disposed && (d.Incident == "" || d.Incident == res.Incident.ID) {
			said[d.About] = append(said[d.About], d)
		}
	}
	for i := range res.Findings {
		res.Findings[i].Dispositions = said[res.Findings[i].Subject.String()]
	}
	return nil
}
