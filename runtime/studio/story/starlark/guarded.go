package starlark

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The names of the guards. No script can write them.
const (
	guardCall   = "·call"   // of what is called
	guardBinary = "·binary" // of an operation
	guardGrow   = "·grow"   // of what is added in place
	guardMade   = "·made"   // of what was made without a call
)

// A guarding rewrites a script so that all that it makes is weighed: steps alone bound no
// memory, since one step can double what there is.
type guarding struct{ err error }

// file rewrites a whole script.
func (g *guarding) file(f *syntax.File) error {
	g.stmts(f.Stmts)
	return g.err
}

func (g *guarding) stmts(list []syntax.Stmt) {
	for _, s := range list {
		g.stmt(s)
	}
}

func (g *guarding) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		g.assign(s)
	case *syntax.DefStmt:
		g.params(s.Params)
		g.stmts(s.Body)
	case *syntax.ExprStmt:
		s.X = g.expr(s.X)
	case *syntax.ForStmt:
		s.Vars, s.X = g.target(s.Vars), g.expr(s.X)
		g.stmts(s.Body)
	case *syntax.WhileStmt:
		s.Cond = g.expr(s.Cond)
		g.stmts(s.Body)
	case *syntax.IfStmt:
		s.Cond = g.expr(s.Cond)
		g.stmts(s.True)
		g.stmts(s.False)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = g.expr(s.Result)
		}
	}
}

// assign guards x += y by looking at both before. What stands on the left is looked at
// twice, and so must not call anything.
func (g *guarding) assign(s *syntax.AssignStmt) {
	op, in := operator[s.Op]
	if in && calls(s.LHS) {
		g.err = syntax.Error{Pos: s.OpPos, Msg: "what " + s.Op.String() + " changes is named by a call; put it into a variable first"}
		return
	}
	if in {
		left := g.expr(copied(s.LHS))
		s.RHS = invoked(guardGrow, s.OpPos, &syntax.Literal{Token: syntax.STRING, TokenPos: s.OpPos, Raw: op, Value: op}, left, g.expr(s.RHS))
	} else {
		s.RHS = g.expr(s.RHS)
	}
	s.LHS = g.target(s.LHS)
}

// operator is what an assignment does besides.
var operator = map[syntax.Token]string{syntax.PLUS_EQ: "+", syntax.STAR_EQ: "*", syntax.PERCENT_EQ: "%", syntax.PIPE_EQ: "|"}

var binary = map[syntax.Token]string{syntax.PLUS: "+", syntax.STAR: "*", syntax.PERCENT: "%", syntax.PIPE: "|"}

// target rewrites what is assigned to: parts of it are values, and it itself is none.
func (g *guarding) target(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		e.X = g.target(e.X)
	case *syntax.TupleExpr:
		for i := range e.List {
			e.List[i] = g.target(e.List[i])
		}
	case *syntax.ListExpr:
		for i := range e.List {
			e.List[i] = g.target(e.List[i])
		}
	case *syntax.IndexExpr:
		e.X, e.Y = g.expr(e.X), g.expr(e.Y)
	case *syntax.DotExpr:
		e.X = g.expr(e.X)
	}
	return e
}

func (g *guarding) params(list []syntax.Expr) {
	for _, p := range list {
		if d, ok := p.(*syntax.BinaryExpr); ok {
			d.Y = g.expr(d.Y)
		}
	}
}

func (g *guarding) exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = g.expr(list[i])
	}
}

// expr rewrites a value.
func (g *guarding) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		e.X, e.Y = g.expr(e.X), g.expr(e.Y)
		if op, ok := binary[e.Op]; ok {
			return invoked(guardBinary, e.OpPos, &syntax.Literal{Token: syntax.STRING, TokenPos: e.OpPos, Raw: op, Value: op}, e.X, e.Y)
		}
	case *syntax.CallExpr:
		e.Fn = invoked(guardCall, e.Lparen, g.expr(e.Fn))
		for i, a := range e.Args {
			if named, ok := a.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
				named.Y = g.expr(named.Y)
			} else if spread, ok := a.(*syntax.UnaryExpr); ok && (spread.Op == syntax.STAR || spread.Op == syntax.STARSTAR) {
				spread.X = g.expr(spread.X)
			} else {
				e.Args[i] = g.expr(a)
			}
		}
	case *syntax.SliceExpr:
		e.X = g.expr(e.X)
		for _, part := range []*syntax.Expr{&e.Lo, &e.Hi, &e.Step} {
			if *part != nil {
				*part = g.expr(*part)
			}
		}
		return invoked(guardMade, e.Lbrack, e)
	case *syntax.TupleExpr:
		g.exprs(e.List)
		start, _ := e.Span()
		return invoked(guardMade, start, e)
	case *syntax.ListExpr:
		g.exprs(e.List)
	case *syntax.DictExpr:
		for _, it := range e.List {
			entry := it.(*syntax.DictEntry) //nolint:forcetypeassert // the parser makes no others
			entry.Key, entry.Value = g.expr(entry.Key), g.expr(entry.Value)
		}
	case *syntax.Comprehension:
		g.comprehension(e)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = g.expr(e.Cond), g.expr(e.True), g.expr(e.False)
	case *syntax.LambdaExpr:
		g.params(e.Params)
		e.Body = g.expr(e.Body)
	case *syntax.DotExpr:
		e.X = g.expr(e.X)
	case *syntax.IndexExpr:
		e.X, e.Y = g.expr(e.X), g.expr(e.Y)
	case *syntax.ParenExpr:
		e.X = g.expr(e.X)
	case *syntax.UnaryExpr:
		if e.X != nil {
			e.X = g.expr(e.X)
		}
	}
	return e
}

func (g *guarding) comprehension(e *syntax.Comprehension) {
	if entry, ok := e.Body.(*syntax.DictEntry); ok {
		entry.Key, entry.Value = g.expr(entry.Key), g.expr(entry.Value)
	} else {
		e.Body = g.expr(e.Body)
	}
	for _, c := range e.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			c.Vars, c.X = g.target(c.Vars), g.expr(c.X)
		case *syntax.IfClause:
			c.Cond = g.expr(c.Cond)
		}
	}
}

// invoked is a call of a guard.
func invoked(name string, at syntax.Position, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}

// calls reports a call within what is assigned to.
func calls(e syntax.Expr) (found bool) {
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CallExpr, *syntax.LambdaExpr, *syntax.Comprehension:
			found = true
		}
		return !found
	})
	return found
}

// copied is what is assigned to, as a value to look at: names, parts and members of it.
func copied(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		return &syntax.Ident{NamePos: e.NamePos, Name: e.Name}
	case *syntax.ParenExpr:
		return copied(e.X)
	case *syntax.IndexExpr:
		return &syntax.IndexExpr{X: copied(e.X), Lbrack: e.Lbrack, Y: copied(e.Y), Rbrack: e.Rbrack}
	case *syntax.DotExpr:
		return &syntax.DotExpr{X: copied(e.X), Dot: e.Dot, NamePos: e.NamePos, Name: &syntax.Ident{NamePos: e.Name.NamePos, Name: e.Name.Name}}
	case *syntax.BinaryExpr:
		return &syntax.BinaryExpr{X: copied(e.X), OpPos: e.OpPos, Op: e.Op, Y: copied(e.Y)}
	case *syntax.UnaryExpr:
		return &syntax.UnaryExpr{OpPos: e.OpPos, Op: e.Op, X: copied(e.X)}
	}
	return e // a literal has no parts that are resolved
}

// compiled is a script that is weighed while it runs.
func compiled(s Script, has func(string) bool) (*starlark.Program, error) {
	f, err := (&syntax.FileOptions{Set: true, TopLevelControl: false, GlobalReassign: false}).Parse(s.Name, s.Source, 0)
	if err != nil {
		return nil, err
	}
	if err := (&guarding{}).file(f); err != nil {
		return nil, err
	}
	return starlark.FileProgram(f, has)
}
