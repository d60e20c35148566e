package gateway

import "github.com/reshelve/reshelve/internal/opensearch/token"

// appendString is token.AppendString, which every answer is made of.
func appendString[T string | []byte](dst []byte, text T) []byte { return token.AppendString(dst, text) }
