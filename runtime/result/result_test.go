package result_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
)

// runes are characters of 1 to 4 bytes.
var runes = []string{"a", "é", "語", "😀"}

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

func put(t *testing.T, s *result.Store, text string) result.Handle {
	t.Helper()
	h, err := s.Put(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// around calls f for n-1, n and n+1 characters of each width.
func around(t *testing.T, n int, f func(t *testing.T, text string, over bool)) {
	for _, r := range runes {
		for d := -1; d <= 1; d++ {
			t.Run(fmt.Sprintf("%d bytes%+d", len(r), d), func(t *testing.T) { f(t, strings.Repeat(r, n+d), d > 0) })
		}
	}
}

func TestInline(t *testing.T) {
	for _, limit := range []int{result.MaxInline, result.MaxInlineRead} {
		around(t, limit, func(t *testing.T, text string, over bool) {
			shown, cut := result.Inline(text, limit)
			if cut != over || !utf8.ValidString(shown) || !strings.HasPrefix(text, shown) {
				t.Errorf("cut %v, want %v", cut, over)
			}
			if n := utf8.RuneCountInString(shown); n > limit || !over && shown != text || over && n != limit {
				t.Errorf("%d characters shown of %d, the limit is %d", n, utf8.RuneCountInString(text), limit)
			}
		})
	}
	for _, limit := range []int{0, -1} {
		if shown, cut := result.Inline("x", limit); shown != "" || !cut {
			t.Errorf("Inline(x, %d) = %q, %v, want nothing, cut", limit, shown, cut)
		}
	}
	if shown, cut := result.Inline("", 0); shown != "" || cut {
		t.Errorf("Inline of nothing = %q, %v", shown, cut)
	}
}

func TestOneResultIsBounded(t *testing.T) {
	for _, r := range runes {
		for d := -1; d <= 1; d++ {
			s := result.New()
			first := put(t, s, "first")
			n := result.MaxBytes + d
			text := strings.Repeat(r, n/len(r)) + strings.Repeat("x", n%len(r))
			_, err := s.Put(text)
			if over := d == 1; over != (fault.CodeOf(err) == fault.TooLarge) || !over && err != nil {
				t.Errorf("%d bytes: %v", len(text), err)
			}
			if _, err := s.Text(first); err != nil {
				t.Errorf("the first result went: %v", err)
			}
		}
	}
}

func TestOldestGoFirst(t *testing.T) {
	s := result.New()
	var hs []result.Handle
	for i := range result.MaxResults {
		hs = append(hs, put(t, s, fmt.Sprint("text ", i)))
	}
	if _, err := s.Stat(hs[0]); err != nil {
		t.Errorf("the first of %d went: %v", result.MaxResults, err)
	}
	put(t, s, "one more")
	_, err := s.Stat(hs[0])
	wantCode(t, "the oldest", err, result.CodeEvicted)
	if text, err := s.Text(hs[1]); err != nil || text != "text 1" {
		t.Errorf("the second is %q, %v", text, err)
	}
}

func TestTotalIsBounded(t *testing.T) {
	s := result.New()
	mega := strings.Repeat("x", result.MaxBytes)
	hs := []result.Handle{put(t, s, mega), put(t, s, mega), put(t, s, mega), put(t, s, mega[1:])}
	for d, want := range []fault.Code{"", result.CodeEvicted} { // the last byte, and one more
		put(t, s, "y")
		_, err := s.Stat(hs[0])
		wantCode(t, fmt.Sprintf("the oldest with %+d bytes", d), err, want)
	}
	if _, err := s.Stat(hs[1]); err != nil {
		t.Errorf("more was dropped than needed: %v", err)
	}
}

func TestHandles(t *testing.T) {
	all := result.NewSessions()
	h, err := all.Put(t.Context(), "s-1", "text")
	if err != nil || h != "result-1" {
		t.Fatalf("Put = %q, %v, want result-1", h, err)
	}
	for _, bad := range []string{"", "result-", "result-0", "result-2", "result--1", "result-01", "result-1 ", "Result-1", "result-1x", "../etc", strings.Repeat("9", 5000)} {
		_, err := all.Text("s-1", bad)
		wantCode(t, fmt.Sprintf("handle %.20q", bad), err, result.CodeUnknown)
	}
	_, err = all.Text("s-2", h)
	wantCode(t, "another session's handle", err, result.CodeUnknown)
	if text, err := all.Text("s-1", h); err != nil || text != "text" {
		t.Errorf("Text = %q, %v", text, err)
	}
	all.End("s-1")
	_, err = all.Text("s-1", h)
	wantCode(t, "after the end", err, result.CodeExpired)
	_, err = all.For("s-1").Stat("result-9")
	wantCode(t, "never handed out, after the end", err, result.CodeUnknown)
	_, err = all.Put(t.Context(), "s-1", "late")
	wantCode(t, "Put after the end", err, result.CodeExpired)
}

// A session that goes on in another run of the program has lost its results, and
// gives no handle out twice: the model still reads the old ones in its history.
func TestAResumedSession(t *testing.T) {
	all := result.NewSessions()
	all.Resume("s-1", []string{"result-2", "result-1", "no handle"})
	for _, h := range []string{"result-1", "result-2"} {
		_, err := all.Text("s-1", h)
		wantCode(t, h, err, result.CodeExpired)
	}
	_, err := all.Text("s-1", "result-3")
	wantCode(t, "not given out yet", err, result.CodeUnknown)
	for i := range result.MaxResults + 1 {
		h, err := all.Put(t.Context(), "s-1", fmt.Sprint("text ", i))
		if want := fmt.Sprintf("result-%d", 3+i); err != nil || h != want {
			t.Fatalf("Put = %q, %v, want %s", h, err, want)
		}
	}
	_, err = all.Text("s-1", "result-3")
	wantCode(t, "the oldest of this run", err, result.CodeEvicted)
	if text, err := all.Text("s-1", "result-4"); err != nil || text != "text 1" {
		t.Errorf("Text = %q, %v", text, err)
	}
	_, err = all.Text("s-1", "result-2")
	wantCode(t, "of the run before", err, result.CodeExpired)
}

func TestRead(t *testing.T) {
	around(t, result.MaxRead, func(t *testing.T, text string, over bool) {
		s := result.New()
		h := put(t, s, text)
		n := utf8.RuneCountInString(text)
		p, err := s.Read(h, 0, 0)
		if err != nil || p.Characters != n || p.Bytes != len(text) {
			t.Fatalf("Read = %+v, %v", p.Stat, err)
		}
		if over && (p.Next != result.MaxRead || utf8.RuneCountInString(p.Text) != result.MaxRead) || !over && (p.Next != 0 || p.Text != text) {
			t.Errorf("%d of %d characters, next %d", utf8.RuneCountInString(p.Text), n, p.Next)
		}
		// Pages put together are the text.
		var whole strings.Builder
		for at := 0; ; {
			p, err := s.Read(h, at, 5000)
			if err != nil || !utf8.ValidString(p.Text) {
				t.Fatalf("Read at %d: %v", at, err)
			}
			whole.WriteString(p.Text)
			if at = p.Next; at == 0 {
				break
			}
		}
		if whole.String() != text {
			t.Error("the pages are not the text")
		}
		if p, err := s.Read(h, n, 1); err != nil || p.Text != "" || p.Next != 0 {
			t.Errorf("Read at the end = %q, %v", p.Text, err)
		}
		for _, bad := range [][2]int{{-1, 1}, {n + 1, 1}, {0, -1}, {0, result.MaxRead + 1}} {
			_, err := s.Read(h, bad[0], bad[1])
			wantCode(t, fmt.Sprint("Read at ", bad), err, fault.Invalid)
		}
	})
}

func TestSearch(t *testing.T) {
	s := result.New()
	h := put(t, s, "Erste Zeile\nzwei: ÄRGER und ärger, 100% [x]*\n😀😀 drei Ärger\n"+strings.Repeat("lang ", 100)+"Ärger"+strings.Repeat(" lang", 100))
	f, err := s.Search(h, "äRGER")
	if err != nil || len(f.Rows) != 4 || f.More {
		t.Fatalf("Search = %+v, %v, want 4 rows", f, err)
	}
	for i, row := range f.Rows {
		p, err := s.Read(h, row.Offset, 5)
		if err != nil || !strings.EqualFold(p.Text, "ärger") {
			t.Errorf("row %d points at %q, %v", i, p.Text, err)
		}
		if !strings.Contains(row.Text, p.Text) || utf8.RuneCountInString(row.Text) > 200 || strings.Contains(row.Text, "\n") {
			t.Errorf("row %d shows %q", i, row.Text)
		}
	}
	for literal, want := range map[string]int{"100% [X]*": 1, ".": 0, "😀": 2, "nowhere": 0, "zeile\nzwei": 1} {
		if f, err := s.Search(h, literal); err != nil || len(f.Rows) != want {
			t.Errorf("Search(%q) = %+v, %v, want %d rows", literal, f.Rows, err, want)
		}
	}
	for _, bad := range []string{"", strings.Repeat("é", 1001)} {
		_, err := s.Search(h, bad)
		wantCode(t, "a literal of bad length", err, fault.Invalid)
	}
	for n, more := range map[int]bool{result.MaxRows - 1: false, result.MaxRows: false, result.MaxRows + 1: true} {
		h := put(t, s, strings.Repeat("aab ", n))
		f, err := s.Search(h, "AAB")
		if err != nil || len(f.Rows) != min(n, result.MaxRows) || f.More != more {
			t.Errorf("%d places: %d rows, more %v, %v", n, len(f.Rows), f.More, err)
		}
	}
	h = put(t, s, "aaaa")
	if f, err := s.Search(h, "aa"); err != nil || len(f.Rows) != 2 {
		t.Errorf("places overlap: %+v, %v", f.Rows, err)
	}
}

func TestPutMakesUTF8(t *testing.T) {
	s := result.New()
	if text, err := s.Text(put(t, s, "a\xffb")); err != nil || text != "a\uFFFDb" {
		t.Errorf("Text = %q, %v", text, err)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := result.New()
	h, err := s.Put(strings.Repeat("lorem ipsum dolor sit amet ", 37_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Search(h, "nowhere"); err != nil {
			b.Fatal(err)
		}
	}
}
