package frame

import "testing"

// TestAnswerLacks tells whole answers of searches from those that say of
// themselves that lines are missing.
func TestAnswerLacks(t *testing.T) {
	for answer, want := range map[string]string{
		`{"took":3,"timed_out":false,"_shards":{"total":5,"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"hits":[{}]}}`: "",
		`{"took":3,"timed_out":true,"hits":{"total":{"value":1},"hits":[{}]}}`:                                                   "the search timed out: its answer lacks lines",
		`{"took":3,"_shards":{"total":5,"failed":2},"hits":{"total":1,"hits":[{}]}}`:                                             "2 shards did not answer the search",
		`{"took":3,"hits":{"total":{"value":10000,"relation":"gte"},"hits":[{},{}]}}`:                                            "2 of 10000 lines that were found: ask for all (size, search_after)",
		`{"took":3,"hits":{"total":12,"hits":[]}}`:                                                                               "0 of 12 lines that were found: ask for all (size, search_after)",
		`{"took":3,"hits":{"hits":[{}]}}`:                                                                                        "", // track_total_hits is off
		`{"preview":true,"offset":0,"result":{"_raw":"x"}}`:                                                                      "a preview of results: save those of the search when it is done",
		`{"preview":false,"result":{"_raw":"x"}}`:                                                                                "",
		`{"status":"success","data":{"resultType":"streams","result":[]}}`:                                                       "",
	} {
		if got := answerLacks([]byte(answer)); got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}
