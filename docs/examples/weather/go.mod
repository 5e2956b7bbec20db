module github.com/soundstage-dev/soundstage/docs/examples/weather

go 1.26.0

require (
	github.com/anthropics/anthropic-sdk-go v1.19.0
	github.com/openai/openai-go/v3 v3.8.1
	github.com/soundstage-dev/soundstage/harness v0.0.0
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.34.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

// In a repository of your own, this line is not there, and the version above is a tag.
replace github.com/soundstage-dev/soundstage/harness => ../../../harness
