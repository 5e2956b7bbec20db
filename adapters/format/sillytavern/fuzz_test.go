package sillytavern_test

import "testing"

const (
	seedWorld = `{"entries":{"0":{"uid":0,"key":["lamp","/a\/b/i"],"keysecondary":["x"],"comment":"T","content":"C","selective":true,"selectiveLogic":3,"order":100,"position":4,"depth":2,"role":1,"disable":false,"delayUntilRecursion":true,"probability":50,"useProbability":true,"characterFilter":{"isExclude":true,"names":["B"],"tags":[]},"matchScenario":true,"vendor":1e400},"x":{"uid":"7"}},"name":"w"}`
	seedChat  = `{"temperature":null,"names_behavior":2,"reverse_proxy":"https://p","prompts":[{"identifier":"main","role":"user","content":"M"},{"identifier":"u","marker":true},{"identifier":"main"}],"prompt_order":[{"character_id":100000,"order":[]},{"character_id":100001,"order":[{"identifier":"g","enabled":true},{"identifier":"main","enabled":false},{"identifier":"chatHistory","enabled":true}]}],"extensions":{"regex_scripts":[{"id":"1","scriptName":"s","findRegex":"/a/g","placement":[2]}]}}`
	seedOld   = `{"temp_openai":0.9,"main_prompt":"M","nsfw_prompt":"","jailbreak_prompt":"J","nsfw_toggle":true,"nsfw_first":true}`
	seedRegex = `[{"id":"1","scriptName":"s","findRegex":"/a\n/gi","replaceString":"$1","trimStrings":[""],"placement":[0,4,9],"substituteRegex":true,"minDepth":null},3]`
	seedQR1   = `{"name":"Q","quickReplySlots":[{"mes":"m","label":"l","enabled":false,"contextMenu":[{"preset":"P","chain":true}],"autoExecute_chatLoad":true}],"numberOfSlots":1}`
	seedQR2   = `{"version":2,"name":"Q","qrList":[{"id":1,"label":"l","contextList":[{"set":"S","isChained":true}],"executeOnUser":true},{"id":1}],"idIndex":1,"color":"red"}`
	seedAll   = `{"personas":{"a.png":"A","b.png":""},"persona_descriptions":{"a.png":{"description":"d","position":4,"depth":2,"role":1},"c.png":{"position":9}},"default_persona":"a.png","x":1}`
	seedParts = `{"instruct":{"input_sequence":"i","output_sequence":"o","wrap":true,"name":"I"},"context":{"story_string":"s","name":"C"},"sysprompt":{"name":"S","content":"c","post_history":"p"},"preset":{"temp":1,"name":"P"},"srw":{"value":"v"}}`
)

func FuzzWorld(f *testing.F) {
	suite.Fuzz(f, "sillytavern-world", seedWorld, `{"entries":[{"key":"a","keys":["b"],"enabled":false,"insertion_order":5}]}`)
}

func FuzzChat(f *testing.F) {
	suite.Fuzz(f, "sillytavern-chat", seedChat, seedOld, `{"version":1,"type":"full","data":{"prompts":[],"prompt_order":[]}}`)
}

func FuzzText(f *testing.F) {
	suite.Fuzz(f, "sillytavern-text", `{"temp":1,"top_k":null,"top_p":0.5,"rep_pen":1,"name":"N","api_key":"s"}`, `{"name":"N","story_string":"s","single_line":true}`, `{"name":"N","content":"c"}`)
}
func FuzzMaster(f *testing.F) { suite.Fuzz(f, "sillytavern-master", seedParts) }
func FuzzRegex(f *testing.F) {
	suite.Fuzz(f, "sillytavern-regex", seedRegex, seedRegex[1:len(seedRegex)-3])
}
func FuzzQuickReplies(f *testing.F) { suite.Fuzz(f, "sillytavern-quickreply", seedQR1, seedQR2) }
func FuzzPersonas(f *testing.F)     { suite.Fuzz(f, "sillytavern-personas", seedAll) }
