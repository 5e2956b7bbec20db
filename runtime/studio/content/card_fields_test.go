package content

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/card"
)

// fill puts a value into every field, so that none can be forgotten.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			v.SetBytes([]byte("7"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		val := reflect.New(v.Type().Elem()).Elem()
		fill(val)
		v.SetMapIndex(reflect.ValueOf("de"), val)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.SetInt(3)
	}
}

// full is a character with every field, sound but for its scripts' ids.
func full() Character {
	var c Character
	fill(reflect.ValueOf(&c).Elem())
	c.Persona.Structured.Kind = "wpp"
	for i := range c.Prompts.DepthInjections {
		c.Prompts.DepthInjections[i].Role = "user"
	}
	return c
}

// TestNoFieldIsLostInSilence writes a character with every field as each version of a
// card: what does not come back is said.
func TestNoFieldIsLostInSilence(t *testing.T) {
	raw, err := Bytes(full())
	if err != nil {
		t.Fatal(err)
	}
	body, err := canon.ParseTree(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []card.Version{card.V1, card.V2, card.V3} {
		doc, losses := card.Write(body, v, nil)
		back, err := card.ReadTree(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Warnings) > 0 {
			t.Errorf("%s: what we write reads as %q", v, back.Warnings)
		}
		for _, path := range leaves(reflect.TypeFor[Character](), "") {
			at := strings.ReplaceAll(path, "/-/", "/0/")
			if body.At(at) == nil {
				t.Fatalf("%s is not filled", at)
			}
			if at == "/media/portrait" || canon.Equal(back.Body.At(at), body.At(at)) {
				continue // a picture is the carrier's: adapters/format/ccv3
			}
			said := false
			for _, l := range losses {
				said = said || strings.HasPrefix(at+"/", l.Path+"/")
			}
			if !said {
				t.Errorf("%s: %s is lost and nobody says so", v, path)
			}
		}
	}
}

// Every field of a body has a row in the table of places, so that the reference shows it.
func TestEveryFieldHasARow(t *testing.T) {
	for _, path := range leaves(reflect.TypeFor[Character](), "") {
		found := path == "/media/portrait"
		for _, f := range card.Fields() {
			found = found || strings.HasPrefix(path+"/", f.Path+"/")
		}
		if !found {
			t.Errorf("%s is not in card/fields.go", path)
		}
	}
}
