package seam

import (
	"encoding/json"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// Price is what something costs, as canonical JSON, by a name that the caller chose.
// It goes through the seam like a call: live and in record it is what now says, in
// record it is also kept in the cassette's header, and in replay it is what was
// kept, or null where nothing was. Fill keeps what was kept, and adds. So a replay costs what the recording did.
func (s *Seam) Price(name string, now func() ([]byte, error)) ([]byte, error) {
	if price := s.prices.get(name); s.play != nil && (!s.Sends() || string(price) != "null") {
		return price, nil
	}
	price, err := now()
	if err != nil || s.rec == nil {
		return price, err
	}
	return price, s.prices.put(name, price)
}

// A priceList is the x-prices of a cassette: a JSON object by name.
type priceList struct {
	mu     sync.Mutex
	byName map[string]json.RawMessage
}

func (l *priceList) decode(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName = map[string]json.RawMessage{}
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, &l.byName)
}

func (l *priceList) get(name string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.byName[name]; ok {
		return p
	}
	return []byte("null")
}

func (l *priceList) put(name string, price []byte) error {
	price, err := canon.JSON(price)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byName[name] = price
	return nil
}

// encode is the canonical JSON of the list, nil where it is empty.
func (l *priceList) encode() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byName) == 0 {
		return nil
	}
	b, err := canon.Marshal(l.byName)
	if err != nil {
		panic("seam: prices that were canonical are not: " + err.Error())
	}
	return b
}
