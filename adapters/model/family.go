package model

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/azure"
	"charm.land/fantasy/providers/bedrock"
	"charm.land/fantasy/providers/google"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
	"charm.land/fantasy/providers/openrouter"
	"charm.land/fantasy/providers/vercel"
)

// A family is a way to speak: which library part builds the request, which
// options it knows and how it is authorised.
type family string

// The families.
const (
	familyAnthropic  family = "anthropic"
	familyAzure      family = "azure"
	familyBedrock    family = "bedrock"
	familyGoogle     family = "google"
	familyVertex     family = "vertexai"
	familyOpenAI     family = "openai"
	familyCompat     family = "openaicompat"
	familyOpenRouter family = "openrouter"
	familyVercel     family = "vercel"
)

// families are the catalogue's provider types that we speak.
var families = map[catwalk.Type]family{
	catwalk.TypeAnthropic:    familyAnthropic,
	catwalk.TypeAzure:        familyAzure,
	catwalk.TypeBedrock:      familyBedrock,
	catwalk.TypeGoogle:       familyGoogle,
	catwalk.TypeVertexAI:     familyVertex,
	catwalk.TypeOpenAI:       familyOpenAI,
	catwalk.TypeOpenAICompat: familyCompat,
	catwalk.TypeOpenRouter:   familyOpenRouter,
	catwalk.TypeVercel:       familyVercel,
}

// A dialect is the shape of a reply on the wire.
type dialect string

// The dialects.
const (
	dialectAnthropic dialect = "anthropic"
	dialectChat      dialect = "chat"
	dialectResponses dialect = "responses"
	dialectGoogle    dialect = "google"
)

// The addresses that the catalogue leaves to a variable. Stated here, because an
// empty address is where the SDKs look into the environment.
const (
	googleURL   = "https://generativelanguage.googleapis.com/"
	azureURL    = "https://soundstage-replay.openai.azure.com/openai/v1"
	bedrockHome = "us-east-1"
	vertexHome  = "us-central1"
)

// dialect is how the model that ref names answers.
func (f family) dialect(ref string) dialect {
	_, id, _ := strings.Cut(ref, "/")
	switch f {
	case familyAnthropic, familyBedrock:
		return dialectAnthropic
	case familyVertex:
		if strings.Contains(id, "claude") {
			return dialectAnthropic
		}
		return dialectGoogle
	case familyGoogle:
		return dialectGoogle
	case familyOpenAI, familyAzure:
		if openai.IsResponsesModel(id) {
			return dialectResponses
		}
	}
	return dialectChat
}

// dial sets up the library's model. The library gets a placeholder for a key: the
// true one is put on by the transport, so no error of an SDK can hold it. No SDK
// retries: fantasy sets that to none, and retries are the loop's.
func dial(ctx context.Context, e entry, a Access, c *http.Client) (fantasy.LanguageModel, error) {
	p, err := newProvider(e, a, c)
	if err != nil {
		return nil, err
	}
	return p.LanguageModel(ctx, e.model)
}

func newProvider(e entry, a Access, c *http.Client) (fantasy.Provider, error) {
	url := cmp.Or(a.BaseURL, e.baseURL)
	switch e.family {
	case familyAnthropic:
		return anthropic.New(anthropic.WithHTTPClient(c), anthropic.WithAPIKey(placeholder),
			anthropic.WithBaseURL(cmp.Or(url, anthropic.DefaultURL)))
	case familyBedrock:
		region := cmp.Or(a.Region, bedrockHome)
		return bedrock.New(bedrock.WithHTTPClient(c), bedrock.WithAPIKey(placeholder), bedrock.WithRegion(region),
			bedrock.WithBaseURL(cmp.Or(url, "https://bedrock-runtime."+region+".amazonaws.com")))
	case familyAzure:
		return azure.New(azure.WithHTTPClient(c), azure.WithAPIKey(placeholder),
			azure.WithBaseURL(cmp.Or(url, azureURL)), azure.WithUseResponsesAPI())
	case familyGoogle:
		return google.New(google.WithHTTPClient(c), google.WithGeminiAPIKey(placeholder),
			google.WithBaseURL(cmp.Or(url, googleURL)), google.WithToolCallIDFunc(noID))
	case familyVertex:
		return newVertex(e, a, c)
	case familyOpenAI:
		return openai.New(openai.WithHTTPClient(c), openai.WithAPIKey(placeholder),
			openai.WithBaseURL(cmp.Or(url, openai.DefaultURL)), openai.WithUseResponsesAPI())
	case familyOpenRouter:
		return openrouter.New(openrouter.WithHTTPClient(c), openrouter.WithAPIKey(placeholder))
	case familyVercel:
		return vercel.New(vercel.WithHTTPClient(c), vercel.WithAPIKey(placeholder),
			vercel.WithBaseURL(cmp.Or(url, vercel.DefaultURL)))
	}
	return openaicompat.New(openaicompat.WithHTTPClient(c), openaicompat.WithAPIKey(placeholder),
		openaicompat.WithBaseURL(cmp.Or(url, compatURL)))
}

// compatURL is where [Compat] goes in replay.
const compatURL = "http://127.0.0.1:8000/v1"

// newVertex skips the library's search for credentials, which would ask files and
// a metadata server; the transport puts the token on.
func newVertex(e entry, a Access, c *http.Client) (fantasy.Provider, error) {
	project, region := cmp.Or(a.Project, placeholder), cmp.Or(a.Region, vertexHome)
	opts := []google.Option{
		google.WithHTTPClient(c), google.WithVertex(project, region),
		google.WithSkipAuth(true), google.WithToolCallIDFunc(noID),
	}
	if url := cmp.Or(a.BaseURL, e.baseURL); url != "" {
		return google.New(append(opts, google.WithBaseURL(url))...)
	}
	host := region + "-aiplatform.googleapis.com"
	switch region {
	case "global":
		host = "aiplatform.googleapis.com"
	case "us", "eu":
		host = "aiplatform." + region + ".rep.googleapis.com"
	}
	return google.New(append(opts, google.WithBaseURL("https://"+host+"/"))...)
}

// noID stands where the library would make a random id. It never leaves: every
// id of a reply is replaced.
func noID() string { return "call" }
