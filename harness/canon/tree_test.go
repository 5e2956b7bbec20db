package canon

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

const crooked = " {\n\t\"b\" : 1.50 ,\"a\":[ 1e5,\t\"\\u00e9\\ud800/\" , [ ] ],\n\"n\":12345678901234567890, \"b\":null , \"o\" : { \"x\" :true} \n}\r\n"

func TestTreeKeepsEveryByte(t *testing.T) {
	for _, src := range []string{crooked, "{}", "[ ]", "{ }", "0", `"x"`, "[1 , 2]", "{\"a\":{\"b\":[{}]}}", "null", "[\xff\"\"]"[:1] + "]"} {
		n, err := ParseTree([]byte(src))
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		if got := string(n.Bytes()); got != strings.TrimSpace(src) {
			t.Errorf("got  %q\nwant %q", got, strings.TrimSpace(src))
		}
	}
}

func TestTreeReads(t *testing.T) {
	n, err := ParseTree([]byte(crooked))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.At("/a/1").Text(); got != "é\ufffd/" {
		t.Errorf("text %q", got)
	}
	if n.Field("b").Kind() != Null || n.Field("b") == nil {
		t.Error("of doubled keys the last must win")
	}
	if got := n.At("/n").Raw(); got != "12345678901234567890" {
		t.Errorf("number %q", got)
	}
	if _, err := n.Get("/a/7"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a miss is %v", err)
	}
	for _, bad := range []string{"a", "/a~", "/~2"} {
		if _, err := n.Get(bad); fault.CodeOf(err) != CodeTreePointer {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, miss := range []string{"/a/01", "/a/-", "/a/-1", "/a/+1", "/n/x"} {
		if n.At(miss) != nil {
			t.Errorf("%q is there", miss)
		}
	}
}

func TestTreeInvalidUTF8(t *testing.T) {
	src := []byte("{\"a\xffb\":\"x\xfe\"}")
	n, err := ParseTree(src)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(n.Bytes(), src) {
		t.Errorf("got %q", n.Bytes())
	}
	if got := n.Field("a\ufffdb").Text(); got != "x\ufffd" {
		t.Errorf("text %q", got)
	}
}

func TestTreeChanges(t *testing.T) {
	tests := []struct {
		name, src, ptr string
		val            *Node // nil deletes
		want           string
	}{
		{"replace keeps neighbours", "{ \"a\" : 1 , \"b\":2}", "/a", NewText("x"), "{ \"a\" : \"x\" , \"b\":2}"},
		{"new member takes the style", "{\n  \"a\": 1\n}", "/b", NewInt(2), "{\n  \"a\": 1,\n  \"b\": 2\n}"},
		{"append", "[\n 1\n]", "/-", NewInt(2), "[\n 1,\n 2\n]"},
		{"append to nothing", "[ ]", "/0", NewInt(2), "[2 ]"},
		{"missing objects", "{}", "/x/y", NewBool(true), `{"x":{"y":true}}`},
		{"delete last", "{\n \"a\": 1,\n \"b\": 2\n}", "/b", nil, "{\n \"a\": 1\n}"},
		{"delete first", "{\n \"a\": 1,\n \"b\": 2\n}", "/a", nil, "{\n \"b\": 2\n}"},
		{"delete first on a line", "{\"a\": 1, \"b\": 2}", "/a", nil, "{\"b\": 2}"},
		{"delete first item", "[1, 2, 3 ]", "/0", nil, "[2, 3 ]"},
		{"delete doubled", `{"a":1,"b":2,"a":3}`, "/a", nil, `{"b":2}`},
		{"delete only", "{ \"a\": 1 }", "/a", nil, "{}"},
		{"delete item", "[1, 2, 3 ]", "/2", nil, "[1, 2 ]"},
		{"delete miss", "[1]", "/5", nil, "[1]"},
		{"replace doubled", `{"a":1,"a":2}`, "/a", NewInt(3), `{"a":1,"a":3}`},
		{"root", `{"a":1}`, "", NewNull(), "null"},
		{"escaped name", `{}`, "/a~1b~0c", NewInt(1), `{"a/b~c":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := ParseTree([]byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if tt.val == nil {
				_, err = n.Delete(tt.ptr)
			} else {
				err = n.Set(tt.ptr, tt.val)
			}
			if err != nil || string(n.Bytes()) != tt.want {
				t.Errorf("got %q, %v\nwant %q", n.Bytes(), err, tt.want)
			}
		})
	}
}

func TestTreeRefuses(t *testing.T) {
	deep := strings.Repeat("[", MaxTreeDepth+1) + strings.Repeat("]", MaxTreeDepth+1)
	tests := map[string]fault.Code{
		"": CodeTreeSyntax, "{": CodeTreeSyntax, "{\"a\":1,}": CodeTreeSyntax, "1 2": CodeTreeSyntax,
		"{'a':1}": CodeTreeSyntax, "\ufeff{}": CodeTreeSyntax, "[1,,2]": CodeTreeSyntax, deep: CodeTreeDepth,
		strings.Repeat(" ", MaxTreeBytes+1): CodeTreeSize,
	}
	for src, want := range tests {
		if _, err := ParseTree([]byte(src)); fault.CodeOf(err) != want {
			t.Errorf("%.20q: %v, want %s", src, err, want)
		}
	}
	if _, err := ParseTree([]byte(deep[1 : len(deep)-1])); err != nil {
		t.Errorf("depth at the bound: %v", err)
	}
	n, _ := ParseTree([]byte(`{"a":1,"l":[1]}`))
	for _, ptr := range []string{"/a/b", "/l/9", "/l/x", strings.Repeat("/x", MaxTreeDepth+1)} {
		if err := n.Set(ptr, NewNull()); err == nil {
			t.Errorf("set %.20q passed", ptr)
		}
	}
}

func TestEqual(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true]}`, `{ "b":[true], "a":1 }`, true},
		{`"\u0041"`, `"A"`, true},
		{`1.0`, `1`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`null`, `0`, false},
	}
	for _, tt := range tests {
		a, _ := ParseTree([]byte(tt.a))
		b, _ := ParseTree([]byte(tt.b))
		if Equal(a, b) != tt.want {
			t.Errorf("Equal(%s, %s) is not %v", tt.a, tt.b, tt.want)
		}
	}
}

// TestManyMembers crosses the size where an object gets an index.
func TestManyMembers(t *testing.T) {
	n := NewObject()
	for i := range 3 * manyMembers {
		if err := n.Set(JoinPointer(strconv.Itoa(i)), NewInt(int64(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < 3*manyMembers; i += 2 {
		if ok, err := n.Delete(JoinPointer(strconv.Itoa(i))); !ok || err != nil {
			t.Fatal(i, err)
		}
	}
	again, err := ParseTree(n.Clone().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * manyMembers {
		for _, tree := range []*Node{n, again} {
			if got := tree.Field(strconv.Itoa(i)); (got != nil) != (i%2 == 1) || i%2 == 1 && got.Raw() != strconv.Itoa(i) {
				t.Errorf("%d: %s", i, got.Raw())
			}
		}
	}
	if n.Len() != 3*manyMembers/2 || !Equal(n, again) {
		t.Errorf("%d members", n.Len())
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(crooked), "/a/1")
	f.Add([]byte(`{"a":{"b":[1,2,{"c":"\ud83d"}]}}`), "/a/b/2/c")
	f.Add([]byte("[\"\xff\"]"), "/0")
	f.Add([]byte("[]"), "/-/")
	f.Fuzz(func(t *testing.T, src []byte, ptr string) {
		n, err := ParseTree(src)
		if err != nil {
			return
		}
		if want := bytes.Trim(src, " \t\r\n"); !bytes.Equal(n.Bytes(), want) {
			t.Fatalf("changed\n%q\n%q", n.Bytes(), want)
		}
		if err := n.Set(ptr, NewText("new")); err != nil {
			return
		}
		// "-" is the place behind a list's end, also when something has been put there
		if got := n.At(ptr); !strings.Contains(ptr+"/", "/-/") && got.Text() != "new" {
			t.Fatalf("set %q, got %q in %q", ptr, got.Bytes(), n.Bytes())
		}
		again, err := ParseTree(n.Bytes())
		if err != nil && fault.CodeOf(err) != CodeTreeDepth {
			t.Fatalf("no longer JSON: %q: %v", n.Bytes(), err)
		}
		if err == nil && !Equal(n, again) {
			t.Fatalf("not equal after reparse: %q", n.Bytes())
		}
		if ptr != "" {
			if _, err := n.Delete(ptr); err != nil {
				t.Fatal(err)
			}
			if !jsontext.Value(n.Bytes()).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
				t.Fatalf("delete broke it: %q", n.Bytes())
			}
		}
	})
}
