// Package expr is the languages of a story: expressions, and the two dialects of
// templates, the small one of effects and the one of pages.
//
// It is a part of the story studio below everything that runs. It sees the world as an
// Env, changes nothing, and refuses at load time what it would not run: functions that
// are not on the list, predicates, declarations. It knows no files but those that a
// Pages is given.
package expr

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	lang "github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/vm"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// The codes of this package.
const (
	CodeSyntax   fault.Code = "STORY_EXPR_SYNTAX"   // does not parse, or has no such type
	CodeBarred   fault.Code = "STORY_EXPR_BARRED"   // parses, and is not allowed in a story
	CodeRuntime  fault.Code = "STORY_EXPR_FAILED"   // failed when it ran
	CodeTemplate fault.Code = "STORY_TEMPLATE"      // a template that does not parse or run
	CodeTooLong  fault.Code = "STORY_EXPR_TOO_LONG" // longer than MaxSource, or what came of it than MaxOutput
)

// The bounds.
const (
	MaxSource = 64 << 10 // bytes of an expression
	MaxNodes  = 10_000   // of its tree
	MaxOutput = 4 << 20  // bytes of a rendered template
)

var builtins = []string{
	"len", "trim", "upper", "lower", "split", "join", "hasPrefix", "hasSuffix", "now", "int", "float", "string", "abs", "round",
	"type", "get", "keys", "min", "max",
}

var functions = []string{"available", "blocked", "blocked_reason", "intent_status"}

// An Expr is a compiled expression. It is safe for concurrent use.
type Expr struct {
	source  string
	program *vm.Program
	reads   []string
}

// Compile compiles an expression of any type.
func Compile(source string) (*Expr, error) { return compile(source, lang.AsAny()) }

// CompileBool compiles a guard: it must be able to be true or false.
func CompileBool(source string) (*Expr, error) { return compile(source, lang.AsBool()) }

// CompilePolicy compiles a guard of a proposal, where roots may have a $ before them.
func CompilePolicy(source string) (*Expr, error) {
	return compile(source, lang.AsBool(), lang.Patch(dollars{}))
}

// dollars takes the $ off the roots that a proposal names with one.
type dollars struct{}

// Visit implements ast.Visitor.
func (dollars) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok && slices.Contains(dollared, id.Value) {
		id.Value = id.Value[1:]
	}
}

var dollared = []string{"$" + Proposal, "$" + World, "$" + Slots}

var dollar = regexp.MustCompile(`\$(` + Proposal + "|" + World + "|" + Slots + `)\b`)

// Undollared is a page of a proposal without the $ before its roots.
func Undollared(page string) string { return dollar.ReplaceAllString(page, "$1") }

// prototype gives the types of the roots to the compiler.
var prototype = NewEnv().vars

func compile(source string, as lang.Option, first ...lang.Option) (*Expr, error) {
	const op = "story.expr"
	if len(source) > MaxSource {
		return nil, fault.New(CodeTooLong, op, "an expression of %d bytes is longer than %d", len(source), MaxSource)
	}
	g := &guard{}
	program, err := made(source, append(first, lang.Patch(g)), as)
	if len(g.barred) > 0 {
		return nil, fault.New(CodeBarred, op, "%q %s", source, strings.Join(g.barred, "; ")).
			WithHint("an expression may read %s, and call %s", "slots, world, event, run, args, menu, item, result", strings.Join(builtins, ", "))
	}
	if err != nil {
		return nil, syntax(op, source, err)
	}
	return &Expr{source: source, program: program, reads: g.reads}, nil
}

// standard are the library's functions by name: it would make the table anew for every
// expression, which takes longer than to compile one.
var standard = func() conf.FunctionsTable {
	table := conf.FunctionsTable{}
	for _, f := range builtin.Builtins {
		table[f.Name] = f
	}
	return table
}()

func made(source string, patches []lang.Option, as lang.Option) (*vm.Program, error) {
	c := &conf.Config{Optimize: true, ShortCircuit: true, MaxNodes: MaxNodes, Builtins: standard}
	for _, set := range slices.Concat([]lang.Option{lang.Env(prototype), lang.AllowUndefinedVariables()}, patches, []lang.Option{lang.Patch(nilSafeLen{}), as}) {
		set(c)
	}
	tree, err := checker.ParseCheck(source, c)
	if err != nil {
		return nil, err
	}
	if err := optimizer.Optimize(&tree.Node, c); err != nil {
		return nil, err
	}
	return compiler.Compile(tree, c)
}

func syntax(op, source string, err error) error {
	if at, ok := errors.AsType[*file.Error](err); ok {
		return fault.New(CodeSyntax, op, "%q at character %d: %s", source, at.Column+1, at.Message)
	}
	return fault.New(CodeSyntax, op, "%q: %s", source, err)
}

// Source is the expression as it was written.
func (e *Expr) Source() string { return e.source }

// Reads are the roots with what is taken of them, sorted: "world.money", "slots.item".
func (e *Expr) Reads() []string { return e.reads }

// Eval gives the value of the expression.
func (e *Expr) Eval(env *Env) (value.Value, error) {
	out, err := e.run(env)
	if err != nil {
		return value.Value{}, err
	}
	v, err := value.From(out)
	if err != nil {
		return v, fault.Wrap(err, CodeRuntime, "story.expr", "%q", e.source)
	}
	return v, nil
}

// Bool gives the truth of a guard. What is neither true nor false is an error.
func (e *Expr) Bool(env *Env) (bool, error) {
	out, err := e.run(env)
	if err != nil {
		return false, err
	}
	b, ok := out.(bool)
	if !ok {
		return false, fault.New(CodeRuntime, "story.expr", "%q is %T, and not true or false", e.source, out)
	}
	return b, nil
}

func (e *Expr) run(env *Env) (out any, err error) {
	defer func() {
		if r := recover(); r != nil { // a builtin on a type that it does not expect
			err = fault.New(CodeRuntime, "story.expr", "%q: %v", e.source, r)
		}
	}()
	out, err = vm.Run(e.program, env.vars)
	if err != nil {
		return nil, fault.New(CodeRuntime, "story.expr", "%q: %s", e.source, firstLine(err))
	}
	return out, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// guard looks at every node and says what a story may not do.
type guard struct {
	barred []string
	reads  []string
}

func (g *guard) bar(format string, args ...any) {
	g.barred = append(g.barred, fmt.Sprintf(format, args...))
}

// Visit implements ast.Visitor.
func (g *guard) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); !ok || !slices.Contains(functions, id.Value) {
			g.bar("calls %s, which is no function of a story", n.Callee)
		}
	case *ast.BuiltinNode:
		if !slices.Contains(builtins, n.Name) {
			g.bar("calls %s, which is no function of a story", n.Name)
		}
	case *ast.PredicateNode:
		g.bar("has a predicate, which a story does not have")
	case *ast.VariableDeclaratorNode:
		g.bar("declares a variable, which a story does not have")
	case *ast.MapNode:
		g.bar("has a map literal, which a story does not have")
	case *ast.MemberNode:
		root := rootOf(n.Node)
		if root != "" && !roots[root] {
			g.bar("reads %q, which is no root of a story", root)
		}
		if id, ok := n.Node.(*ast.IdentifierNode); ok {
			if name, ok := n.Property.(*ast.StringNode); ok {
				g.read(id.Value + "." + name.Value)
			}
		}
	}
}

func (g *guard) read(name string) {
	if i, found := slices.BinarySearch(g.reads, name); !found {
		g.reads = slices.Insert(g.reads, i, name)
	}
}

func rootOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		return rootOf(n.Node)
	}
	return ""
}

// nilSafeLen makes len of nothing 0: a key that was never set counts as empty.
type nilSafeLen struct{}

// Visit implements ast.Visitor.
func (nilSafeLen) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BuiltinNode)
	if !ok || n.Name != "len" || len(n.Arguments) != 1 {
		return
	}
	if b, ok := n.Arguments[0].(*ast.BinaryNode); ok && b.Operator == "??" {
		return
	}
	n.Arguments[0] = &ast.BinaryNode{Operator: "??", Left: n.Arguments[0], Right: &ast.ArrayNode{}}
}
