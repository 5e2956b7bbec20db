package cassette

// Verify checks a cassette deeply: what Open checks, each line's sum, that each
// episode decodes, and that the header claims no better origin than the weakest
// episode.
func Verify(path string) error {
	c, err := Open(path)
	if err != nil {
		return err
	}
	return c.verify()
}

func (c *Cassette) verify() error {
	var origin Origin
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			return err
		}
		origin = weakest(origin, e.Origin)
	}
	if c.Len() > 0 && c.header.Origin != origin {
		return damaged(c.path, c.data, originAt, "x-origin is "+string(c.header.Origin)+", but the weakest episode is "+string(origin))
	}
	return nil
}
