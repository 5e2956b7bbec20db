package repocheck

import (
	"strings"
	"testing"
)

// A rule finds what is wrong in a tree.
type rule struct {
	name  string
	find  func(*tree) []string
	plant string   // a txtar tree with breaches, and with what must be left alone
	want  []string // a part of each finding, in order
}

// rules is the table of contents of this package.
func rules() []rule {
	return []rule{
		layerRule, sdkRule, commentRule, sizeRule, interfaceRule, doorRule, denyRule, importRule, initRule,
		globalRule, mapRule, unfinishedRule, machineRule, documentRule, linkRule, codeRule, scenarioRule,
		moduleRule,
	}
}

func TestRules(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, finding := range r.find(repo(t)) {
				t.Error(finding)
			}
		})
	}
}

// TestRulesFindBreaches proves that each rule can fail.
func TestRulesFindBreaches(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			got := r.find(plant(t, r.plant))
			if len(r.want) == 0 {
				t.Fatal("the rule has no planted breach")
			}
			for i, want := range r.want {
				if i >= len(got) || !strings.Contains(got[i], want) {
					t.Fatalf("finding %d lacks %q in:\n%s", i, want, strings.Join(got, "\n"))
				}
			}
			if len(got) > len(r.want) {
				t.Errorf("more was found than planted:\n%s", strings.Join(got[len(r.want):], "\n"))
			}
		})
	}
}
