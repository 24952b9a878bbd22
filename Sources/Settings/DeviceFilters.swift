import Filters

// `filters` of device.json.
extension DeviceDescription {
    mutating func readFilters(_ reader: inout DescriptionReader) {
        let example = #""filters": [{"filter": "text", "text": "{time}", "position": "bottom-right"}]"#
        let changes = reader.objects("filters", example: example) { Self.filter(&$0, example: example) } ?? []
        for change in changes {
            do throws(FilterError) {
                try filters.set(change)
            } catch {
                reader.report(.invalidValue, "filters", "\(error)", example: example)
            }
        }
    }

    /// Whether its files can be used shows when a stream starts.
    private static func filter(_ reader: inout DescriptionReader, example: String) -> FilterChange? {
        let parameters = FilterParameterName.allCases.map(\.rawValue)
        let name = reader.name("filter", required: true, example: #""filter": "text""#)
        let pairs = parameters.compactMap { key in
            reader.word(key, example: example).map { (key: key, value: $0.value) }
        }
        guard let name else { return nil }
        do throws(FilterError) {
            return try FilterChange(name, pairs)
        } catch {
            reader.report(.invalidValue, "filter", "\(error)", example: example)
            return nil
        }
    }
}
