extension [UInt8] {
    /// Appends the value as AMF0. Class and property names are truncated to 65535 bytes, the format's limit.
    public mutating func appendAMF0(_ value: AMF0Value) {
        switch value {
        case .number(let number):
            append(AMF0Marker.number)
            appendUInt64(number.bitPattern)
        case .boolean(let flag):
            append(AMF0Marker.boolean)
            append(flag ? 1 : 0)
        case .string(let text): appendAMF0String(text)
        case .object(let properties):
            append(AMF0Marker.object)
            appendAMF0Properties(properties)
        case .null: append(AMF0Marker.null)
        case .undefined: append(AMF0Marker.undefined)
        case .reference(let index):
            append(AMF0Marker.reference)
            appendUInt16(index)
        case .ecmaArray(let properties):
            append(AMF0Marker.ecmaArray)
            appendUInt32(UInt32(truncatingIfNeeded: properties.count))
            appendAMF0Properties(properties)
        case .strictArray(let values):
            append(AMF0Marker.strictArray)
            appendUInt32(UInt32(truncatingIfNeeded: values.count))
            for value in values { appendAMF0(value) }
        case .date(let milliseconds, let timeZone):
            append(AMF0Marker.date)
            appendUInt64(milliseconds.bitPattern)
            appendUInt16(UInt16(bitPattern: timeZone))
        case .unsupported: append(AMF0Marker.unsupported)
        case .xmlDocument(let text):
            append(AMF0Marker.xmlDocument)
            appendLongText(text)
        case .typedObject(let className, let properties):
            append(AMF0Marker.typedObject)
            appendShortText(className)
            appendAMF0Properties(properties)
        }
    }

    private mutating func appendAMF0String(_ text: String) {
        if text.utf8.count <= Int(UInt16.max) {
            append(AMF0Marker.string)
            appendShortText(text)
        } else {
            append(AMF0Marker.longString)
            appendLongText(text)
        }
    }

    private mutating func appendAMF0Properties(_ properties: [AMF0Property]) {
        for property in properties {
            appendShortText(property.name)
            appendAMF0(property.value)
        }
        appendUInt16(0)
        append(AMF0Marker.objectEnd)
    }

    private mutating func appendShortText(_ text: String) {
        let bytes = text.utf8.prefix(Int(UInt16.max))
        appendUInt16(UInt16(bytes.count))
        append(contentsOf: bytes)
    }

    private mutating func appendLongText(_ text: String) {
        let bytes = text.utf8.prefix(Int(UInt32.max))
        appendUInt32(UInt32(bytes.count))
        append(contentsOf: bytes)
    }
}
