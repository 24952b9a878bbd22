import CRapidJSON

/// Explains in plain words what was expected, and names common mistakes.
struct SyntaxExplanation {
    let reason: JSONTextError.Reason
    /// Where to look; usually the reader's offset.
    let offset: Int

    private static let values = #"a value: text in double quotes, a number, true, false, null, { or ["#

    init(text: ArraySlice<UInt8>, result: CRapidJSONResult) {
        let offset = min(Int(result.offset), text.count)
        self.offset = offset
        let index = text.startIndex + offset
        let found = index < text.endIndex ? text[index] : nil
        reason = Self.reason(for: result.error, found: found, rest: text[index...], before: text[..<index])
    }

    private static func reason(
        for error: CRapidJSONError, found: UInt8?, rest: ArraySlice<UInt8>, before: ArraySlice<UInt8>
    ) -> JSONTextError.Reason {
        switch error {
        case CRapidJSONErrorStringInvalidEncoding: return .invalidUTF8
        case CRapidJSONErrorNumberTooBig: return .numberTooBig
        case CRapidJSONErrorDocumentEmpty where found == nil:
            return .syntax(expected: "the file is empty; expected an object that starts with {")
        case CRapidJSONErrorStringEscapeInvalid where found != UInt8(ascii: "\\"):
            return .syntax(
                expected: "expected \" before the end of the line; in text, write a tab as \\t")
        default:
            break
        }
        let expected = expectation(for: error)
        let slip = slip(for: error, found: found, rest: rest, before: before)
        return .syntax(expected: "expected \(expected), found \(name(of: found))\(slip.map { "; \($0)" } ?? "")")
    }

    private static func expectation(for error: CRapidJSONError) -> String {
        switch error {
        case CRapidJSONErrorDocumentRootNotSingular: "nothing more after the last closing bracket"
        case CRapidJSONErrorObjectMissName: "a name in double quotes, or } to end the object"
        case CRapidJSONErrorObjectMissColon: "a colon after the name"
        case CRapidJSONErrorObjectMissCommaOrCurlyBracket: "a comma before the next name, or } to end the object"
        case CRapidJSONErrorArrayMissCommaOrSquareBracket: "a comma before the next value, or ] to end the list"
        case CRapidJSONErrorStringUnicodeEscapeInvalidHex: "four hexadecimal digits after \\u"
        case CRapidJSONErrorStringUnicodeSurrogateInvalid: "a pair of \\u escapes for this character"
        case CRapidJSONErrorStringEscapeInvalid:
            "one of \" \\ / b f n r t u after the backslash (write a backslash as \\\\)"
        case CRapidJSONErrorStringMissQuotationMark: "\" at the end of the text"
        case CRapidJSONErrorNumberMissFraction: "a digit after the decimal point"
        case CRapidJSONErrorNumberMissExponent: "a digit in the exponent"
        default: values
        }
    }

    private static func slip(
        for error: CRapidJSONError, found: UInt8?, rest: ArraySlice<UInt8>, before: ArraySlice<UInt8>
    ) -> String? {
        guard let found else { return nil }
        let whiteSpace: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let previous = before.last { !whiteSpace.contains($0) }
        switch found {
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return previous == UInt8(ascii: ",") ? "remove the comma before it" : nil
        case UInt8(ascii: "'"):
            return "use double quotes"
        case UInt8(ascii: "/"), UInt8(ascii: "#"):
            return "JSON has no comments"
        case UInt8(ascii: "="):
            return error == CRapidJSONErrorObjectMissColon ? "write : instead of =" : nil
        case 0xE2 where rest.starts(with: [0xE2, 0x80]):
            return "typographic quotes are not allowed, use \""
        case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "N"):
            return error == CRapidJSONErrorValueInvalid ? "write true, false and null in lower case" : nil
        default:
            return nil
        }
    }

    /// Letters and digits are not quoted, since they may be the first of a secret.
    private static func name(of found: UInt8?) -> String {
        guard let found else { return "the end of the file" }
        return switch found {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): "a digit"
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): "a letter"
        case 0x0A, 0x0D: "the end of the line"
        case 0x20, 0x09: "a space"
        case 0x21...0x7E: "'\(Character(UnicodeScalar(found)))'"
        default: "another character"
        }
    }
}
