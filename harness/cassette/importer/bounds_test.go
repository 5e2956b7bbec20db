package importer_test

import (
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Each fixture is played to a scripted provider: there is a bound to that.
func TestTooManyFixtures(t *testing.T) {
	one := `{"match":{"userMessage":"x"},"response":{"content":"y"}}`
	_, err := importer.Read("many.json", []byte(`{"fixtures":[`+one+strings.Repeat(","+one, 10_000)+`]}`), "")
	if fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("%v", err)
	}
}

// A small file can hold many small entries, each of which takes memory.
func TestTooManyEntries(t *testing.T) {
	one := `{"request":{"method":"G","url":"https://h/"},"response":{"status":200}}`
	_, err := importer.Read("many.har", []byte(`{"log":{"entries":[`+one+strings.Repeat(","+one, importer.MaxEntries)+`]}}`), "")
	if fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("%v", err)
	}
}
