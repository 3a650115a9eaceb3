package pushpolicy

import (
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A yamlText is one text of a YAML file: a value, or a key.
type yamlText struct {
	text string
	// below are the keys above it, from the root on.
	below []string
}

const (
	// mostYAMLNodes bounds what is read of a file: aliases multiply it, and one that stands for itself has no end.
	mostYAMLNodes = 1 << 16
	mostYAMLDepth = 100
)

var errTooMuchYAML = errors.New("too many values, or nested too deeply")

// yamlTexts reads the texts of all documents of a YAML file, and what aliases stand for in each of their places.
func yamlTexts(file string) ([]yamlText, error) {
	var w yamlWalk
	for d := yaml.NewDecoder(strings.NewReader(file)); ; {
		var document yaml.Node
		switch err := d.Decode(&document); {
		case errors.Is(err, io.EOF):
			return w.found, nil
		case err != nil:
			return nil, err
		}
		if err := w.walk(&document, nil); err != nil {
			return nil, err
		}
	}
}

type yamlWalk struct {
	found []yamlText
	nodes int
}

func (w *yamlWalk) walk(n *yaml.Node, below []string) error {
	if w.nodes++; w.nodes > mostYAMLNodes || len(below) > mostYAMLDepth {
		return errTooMuchYAML
	}
	switch n.Kind {
	case yaml.ScalarNode:
		w.found = append(w.found, yamlText{n.Value, below})
	case yaml.AliasNode:
		return w.walk(n.Alias, below)
	}
	for i, child := range n.Content {
		under := below
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			under = append(slices.Clip(below), n.Content[i-1].Value)
		}
		if err := w.walk(child, under); err != nil {
			return err
		}
	}
	return nil
}
