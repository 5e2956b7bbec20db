package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Flags takes the leading flags from args. known has "-name" for a flag without a
// value and "-name=" for one with. An unknown flag fails the script and names the
// near ones. "--" ends the flags.
func (s *Script) Flags(word string, args []string, known ...string) (set map[string]string, rest []string) {
	set, rest, err := parseFlags(args, known)
	if err != nil {
		s.Fatalf("%s: %v", word, err)
	}
	return set, rest
}

func parseFlags(args, known []string) (set map[string]string, rest []string, err error) {
	set = map[string]string{}
	for i, arg := range args {
		if arg == "--" {
			return set, args[i+1:], nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			return set, args[i:], nil
		}
		name, value, given := strings.Cut(arg, "=")
		switch {
		case given && slices.Contains(known, name+"="):
			set[name] = value
		case !given && slices.Contains(known, name):
			set[name] = ""
		case given && slices.Contains(known, name):
			return nil, nil, fmt.Errorf("flag %q takes no value", name)
		case slices.Contains(known, name+"="):
			return nil, nil, fmt.Errorf("flag %q needs a value: %s=…", name, name)
		default:
			return nil, nil, fmt.Errorf("unknown flag %q%s", name, didYouMean(name, known))
		}
	}
	return set, nil, nil
}

// didYouMean is ` (did you mean "a" or "b"?)`, or what there is if nothing is near.
func didYouMean(name string, known []string) string {
	sorted := slices.Clone(known)
	slices.Sort(sorted)
	var near []string
	for _, k := range sorted {
		if fault.Edits(strings.Trim(name, "-="), strings.Trim(k, "-=")) <= 2 {
			near = append(near, fmt.Sprintf("%q", strings.TrimSuffix(k, "=")))
		}
	}
	switch {
	case len(near) > 0:
		return " (did you mean " + strings.Join(near, " or ") + "?)"
	case len(known) == 0:
		return " (it takes none)"
	default:
		return " (there are: " + strings.Join(sorted, ", ") + ")"
	}
}
