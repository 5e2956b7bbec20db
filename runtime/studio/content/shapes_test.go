package content

import (
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	const uuid = "6f1c1c7a-93b1-4c0e-9d5b-0a1b2c3d4e5f"
	secret := "sk-ant-api03-" + strings.Repeat("Zq8r", 12)
	for name, tt := range map[string]struct {
		text string
		same bool
	}{
		"nothing":               {`{"key":"lamp"}`, true},
		"a folder":              {`{"key":"\uf000folder:` + uuid + `","folder":"\uf000folder:` + uuid + `"}`, true},
		"a folder, as it is":    {"{\"key\":\"\uf000folder:" + uuid + "\"}", true},
		"no mark":               {`{"key":"q8Zr2LkP0vXw7TnB4mJc"}`, false},
		"a credential behind":   {`{"key":"\uf000folder:` + secret + `"}`, false},
		"a credential beside":   {`{"key":"\uf000folder:` + uuid + `","api_key":"q8Zr2LkP0vXw7TnB4mJc"}`, false},
		"what stands for a key": {"{\"a\":\"\uf0010\uf001\",\"key\":\"\\uf000folder:" + uuid + "\"}", false},
	} {
		got := string(shapes([]byte(tt.text)))
		if (got == tt.text) != tt.same {
			t.Errorf("%s: %s becomes %s", name, tt.text, got)
		}
		if name == "a credential beside" && !strings.Contains(got, `\uf000folder:`+uuid) {
			t.Errorf("%s: the folder is gone: %s", name, got)
		}
	}
}
