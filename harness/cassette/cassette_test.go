package cassette_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

func hash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// episode is a call with everything a call can have.
func episode(name string) cassette.Episode {
	body := []byte("data: {\"text\":\"" + name + "\"}\n\ndata: [DONE]\n\n")
	return cassette.Episode{
		Key: hash("key " + name), Raw: hash("raw " + name)[:32], Lane: "main/1", Kind: "http",
		Origin: cassette.Scripted, Model: "anthropic/claude", At: "2026-01-02",
		Request: cassette.Request{
			Method: "POST", URL: "https://api.example.com/v1/messages?a=1;b=2",
			Header: http.Header{"Content-Type": {"application/json"}, "X-Two": {"a", "b"}},
			Body:   []byte(`{"messages":[{"role":"user","content":"` + name + `"}]}`),
		},
		Response: cassette.Response{
			Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body,
			Chunks: []cassette.Chunk{{AtMS: 3, Len: 10}, {AtMS: 31, Len: len(body) - 10}}, Duration: 1200 * time.Millisecond,
		},
	}
}

func header() cassette.Header {
	return cassette.Header{Rules: []string{"call-ids/1", "volatile/2"}, Prices: []byte(`{"anthropic/claude":{"in":3.00}}`)}
}

// record writes a cassette and returns its path.
func record(t testing.TB, h cassette.Header, episodes ...cassette.Episode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a", "c.yaml")
	w, err := cassette.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	if len(episodes) > 100 {
		w.WithoutSync()
	}
	for _, e := range episodes {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *cassette.Cassette {
	t.Helper()
	c, err := cassette.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Errorf("error %v has code %q, want %q", err, got, code)
	}
}

func TestRoundTrip(t *testing.T) {
	failed := episode("failed")
	failed.Raw, failed.At, failed.Model = "", "", ""
	failed.Response = cassette.Response{Header: http.Header{}, Body: []byte{}, End: "error", Error: "connection refused"}
	binary := episode("binary")
	binary.Request.Body = []byte{0xff, 0, 1}
	binary.Response.Body, binary.Response.Chunks = []byte("\x80 lone"), nil
	episodes := []cassette.Episode{episode("a"), failed, binary, episode("a")}
	path := record(t, header(), episodes...)
	c := open(t, path)
	want := header()
	want.Format, want.KeyVersion, want.Origin = 2, 1, cassette.Scripted
	if got := c.Header(); !reflect.DeepEqual(got, want) {
		t.Errorf("header\n got %+v\nwant %+v", got, want)
	}
	if c.Len() != len(episodes) {
		t.Fatalf("%d episodes, want %d", c.Len(), len(episodes))
	}
	for i, want := range episodes {
		got, err := c.Episode(i)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("episode %d\n got %+v\nwant %+v", i, got, want)
		}
		r, err := c.Response(i)
		if err != nil || !reflect.DeepEqual(r, want.Response) {
			t.Errorf("response %d\n got %+v, %v\nwant %+v", i, r, err, want.Response)
		}
	}
	if got := c.ByKey(hash("key a")); !reflect.DeepEqual(got, []int{0, 3}) {
		t.Errorf("ByKey = %v", got)
	}
	if got := c.ByRaw(hash("raw a")[:32]); !reflect.DeepEqual(got, []int{0, 3}) {
		t.Errorf("ByRaw = %v", got)
	}
	for _, none := range []string{"", "x", hash("none"), string(bytes.Repeat([]byte("0"), 64)), string(bytes.Repeat([]byte("Z"), 64))} {
		if got := append(c.ByKey(none), c.ByRaw(none)...); got != nil {
			t.Errorf("%q is found at %v", none, got)
		}
	}
	for i, key := range c.Keys() {
		if key != episodes[i].Key {
			t.Errorf("key %d is %q", i, key)
		}
	}
	if err := cassette.Verify(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".part"); !os.IsNotExist(err) {
		t.Errorf("the journal is still there: %v", err)
	}
}

func TestEmptyCassette(t *testing.T) {
	path := record(t, cassette.Header{Origin: cassette.Live})
	c := open(t, path)
	if c.Len() != 0 || c.Header().Origin != cassette.Live || c.ByKey(hash("x")) != nil {
		t.Errorf("%d episodes, header %+v", c.Len(), c.Header())
	}
}

func TestSameEpisodesSameBytes(t *testing.T) {
	var first []byte
	for range 3 {
		e := episode("a")
		for i := range 20 {
			e.Request.Header[fmt.Sprint("X-", i)] = []string{"v"}
		}
		data, err := os.ReadFile(record(t, header(), e, episode("b")))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Errorf("written twice, the bytes differ:\n%s\n%s", first, data)
		}
	}
}

// A journey of twenty calls, cut or changed at any of its bytes, is an error or the same
// file: also where what is damaged is read episode by episode.
func TestDamageInTwentyEpisodes(t *testing.T) {
	if testing.Short() {
		t.Skip("opens a file some twenty thousand times")
	}
	var list []cassette.Episode
	for i := range 20 {
		e := episode(fmt.Sprint("k", i))
		e.Request.Header, e.Response = nil, cassette.Response{Status: 200, Body: fmt.Append(nil, "answer ", i)}
		list = append(list, e)
	}
	whole, err := os.ReadFile(record(t, header(), list...))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // its writes are looked at
	put := func(b []byte, at int) {
		if _, err := f.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	put(whole, 0)
	if err := readAll(path); err != nil {
		t.Fatal(err)
	}
	for i, b := range whole {
		put([]byte{b ^ 1}, i)
		if err := readAll(path); fault.CodeOf(err) != cassette.CodeDamaged {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		put([]byte{b}, i)
	}
	for i := len(whole) - 1; i >= 0; i-- {
		if err := f.Truncate(int64(i)); err != nil {
			t.Fatal(err)
		}
		if err := readAll(path); fault.CodeOf(err) != cassette.CodeDamaged {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

// readAll reads every episode of a cassette.
func readAll(path string) error {
	c, err := cassette.Open(path)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	for i := range c.Len() {
		if _, err := c.Episode(i); err != nil {
			return err
		}
	}
	return nil
}

// Every prefix of a cassette and every altered byte is refused as damaged, and
// so is what stands behind the end.
func TestDamageAtEveryByte(t *testing.T) {
	small := episode("a")
	small.Request.Header, small.Response = nil, cassette.Response{Status: 200, Body: []byte("b")}
	whole, err := os.ReadFile(record(t, header(), episode("a"), small))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	refused := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := cassette.Open(path)
		if fault.CodeOf(err) != cassette.CodeDamaged {
			t.Fatalf("%s: opened %v, error %v", what, c, err)
		}
		if !bytes.Contains([]byte(err.Error()), []byte(fmt.Sprintf("%q, line ", path))) {
			t.Errorf("%s: %q does not name file and line", what, err)
		}
	}
	for i := range whole {
		refused(fmt.Sprint("cut at ", i), whole[:i])
		for _, bit := range []byte{1, 3, 0x80} {
			altered := bytes.Clone(whole)
			altered[i] ^= bit
			refused(fmt.Sprintf("byte %d ^ %#x", i, bit), altered)
		}
		refused(fmt.Sprint("byte left out: ", i), append(bytes.Clone(whole[:i]), whole[i+1:]...))
	}
	refused("a line too many", append(bytes.Clone(whole), '\n'))
	refused("twice", append(bytes.Clone(whole), whole...))
	refused("CRLF", bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")))
}
