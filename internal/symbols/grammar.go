package symbols

// grammar says which nodes of a language are definitions and imports: node types, each between spaces.
type grammar struct {
	name      string // gotreesitter's
	functions string
	types     string
	// values are constants, variables, fields and members of enumerations. They count outside of functions alone.
	values  string
	imports string
}

var javascript = grammar{
	functions: " function_declaration generator_function_declaration method_definition arrow_function function_expression ",
	types:     " class_declaration abstract_class_declaration interface_declaration enum_declaration type_alias_declaration ",
	values: " variable_declarator field_definition public_field_definition property_signature method_signature function_signature" +
		" abstract_method_signature enum_assignment ",
	imports: " import_statement ",
}

// golang is the language that Go's own parser reads.
const golang = "go"

// byLanguage holds the other languages whose structure is read, by Linguist's names in lower case.
var byLanguage = map[string]grammar{
	"python":     {"python", " function_definition ", " class_definition ", " assignment ", " import_statement import_from_statement "},
	"javascript": {"javascript", javascript.functions, javascript.types, javascript.values, javascript.imports},
	"typescript": {"typescript", javascript.functions, javascript.types, javascript.values, javascript.imports},
	"tsx":        {"tsx", javascript.functions, javascript.types, javascript.values, javascript.imports},
	"java": {"java", " method_declaration constructor_declaration compact_constructor_declaration ",
		" class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration ",
		" field_declaration constant_declaration enum_constant ", " import_declaration "},
	"ruby": {"ruby", " method singleton_method ", " class module ", " assignment ", ""},
	"rust": {"rust", " function_item ", " impl_item struct_item enum_item trait_item ",
		" const_item static_item type_item field_declaration enum_variant function_signature_item macro_definition ", " use_declaration "},
	"c": {"c", " function_definition ", " struct_specifier enum_specifier ",
		" preproc_def preproc_function_def declaration field_declaration enumerator type_definition ", " preproc_include "},
	"c++": {"cpp", " function_definition ", " class_specifier struct_specifier enum_specifier ",
		" preproc_def preproc_function_def declaration field_declaration enumerator type_definition alias_declaration ",
		" preproc_include using_declaration "},
	"c#": {"c_sharp", " method_declaration constructor_declaration local_function_statement property_declaration operator_declaration ",
		" class_declaration struct_declaration interface_declaration record_declaration enum_declaration ",
		" field_declaration event_field_declaration enum_member_declaration delegate_declaration ", " using_directive "},
	"php": {"php", " function_definition method_declaration ", " class_declaration interface_declaration trait_declaration enum_declaration ",
		" const_element property_element enum_case ", " namespace_use_declaration "},
}

// families are languages whose files use each other's names; a language that is not here is one by itself.
var families = map[string]string{"javascript": "typescript", "tsx": "typescript", "c": "c++"}

// Known reports whether the structure of a language is read.
func Known(language string) bool {
	_, ok := byLanguage[language]
	return ok || language == golang
}

// Family names the languages that share their names with a language.
func Family(language string) string {
	if f, ok := families[language]; ok {
		return f
	}
	return language
}

// names are the leaves of syntax trees that are a use of a name.
const names = " identifier type_identifier field_identifier property_identifier shorthand_property_identifier constant name namespace_identifier "
