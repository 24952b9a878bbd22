import Filters

// `filters` of device.json.
extension DeviceDescription {
    mutating func readFilters(_ reader: inout DescriptionReader) {
        let example = #""filters": [{"filter": "text", "text": "{time}", "position": "bottom-right"}]"#
        var chain = FilterChain()
        _ = reader.objects("filters", example: example) { Self.readFilter(&$0, into: &chain, example: example) }
        filters = chain
    }

    /// Files named here are checked later, where files are read.
    private static func readFilter(
        _ reader: inout DescriptionReader, into chain: inout FilterChain, example: String
    ) {
        let parameters = FilterParameterName.allCases.map(\.rawValue)
        let name = reader.name("filter", required: true, example: #""filter": "text""#)
        let pairs = parameters.compactMap { key in
            reader.word(key, example: example).map { (key: key, value: $0.value) }
        }
        guard let name else { return }
        do throws(FilterError) {
            try chain.add(FilterChange(name, pairs))
        } catch {
            reader.report(.invalidValue, error.key ?? "filter", "\(error)", example: example)
        }
    }
}
