module github.com/soundstage-dev/soundstage/harness/snapshot

go 1.26.0

require (
	github.com/gkampitakis/go-snaps v0.5.25
	github.com/sebdah/goldie/v2 v2.8.0
)

require (
	github.com/gkampitakis/ciinfo v0.3.4 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/maruel/natural v1.3.0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/rogpeppe/go-internal v1.13.1 // indirect
	github.com/sergi/go-diff v1.4.0 // indirect
	github.com/tidwall/gjson v1.19.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
)
