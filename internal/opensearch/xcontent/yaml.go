package xcontent

import (
	"github.com/reshelve/reshelve/internal/fault"
	"go.yaml.in/yaml/v3"
)

// yamlWriter writes the nodes of a YAML document as JSON, each as the token that
// Jackson's YAMLParser makes of it.
type yamlWriter struct {
	out   []byte
	most  int // how long out may become
	depth int
}

// yamlNodes is how much memory YAML takes in a tree, by which it is held against
// the limit: up to 140 times its length for [0,0,…], a third of that for documents.
const yamlNodes = 64

func appendYAML(dst, data []byte, most int) ([]byte, error) {
	if len(data) > most/yamlNodes {
		return dst, errTooLong
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return dst, fault.New(fault.Corrupt, "%w", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return dst, fault.New(fault.Corrupt, "the document is no object")
	}
	w := yamlWriter{out: dst, most: len(dst) + most}
	if err := w.value(document.Content[0]); err != nil {
		return dst, err
	}
	return w.out, nil
}

func (w *yamlWriter) value(n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		if w.depth == maxDepth {
			return tooDeep()
		}
		w.depth++
		err := w.container(n)
		w.depth--
		return err
	case yaml.AliasNode:
		return w.text(n)
	}
	return w.scalar(n)
}

func (w *yamlWriter) container(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		w.out = append(w.out, '[')
		for _, element := range n.Content {
			w.out = appendComma(w.out)
			if err := w.value(element); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	}
	w.out = append(w.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		w.out = appendComma(w.out)
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode {
			return fault.New(fault.Corrupt, "line %d: a name is no scalar", name.Line)
		}
		if err := w.text(name); err != nil {
			return err
		}
		w.out = append(w.out, ':')
		if err := w.value(n.Content[i+1]); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// text writes the scalar, or the name of the anchor that an alias means, as it is.
func (w *yamlWriter) text(n *yaml.Node) error {
	var err error
	w.out, err = appendString(w.out, []byte(n.Value), w.most)
	if err == errNotUTF8 {
		return fault.New(fault.Corrupt, "line %d: %w", n.Line, err)
	}
	return err
}
