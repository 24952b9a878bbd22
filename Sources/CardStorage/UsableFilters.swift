import Filters
import FrameFiltering

/// A filter of device.json whose file is missing or broken.
public struct UnusableFilter: Sendable {
    /// The key of device.json that names the file: `filters[1].file`.
    public let keyPath: String
    /// What is wrong with the file and that the filter is left out, in words for people.
    public let problem: String
    let setting: FilterSetting
}

/// The filters of device.json with the files that they need. A filter whose file cannot be used is left out: the stream is worth
/// more.
public struct UsableFilters: Sendable {
    public private(set) var filters = LoadedFilters()
    public private(set) var unusable: [UnusableFilter] = []

    /// None.
    init() {}

    /// Reads files, and blocks as long as their disk does.
    /// - Parameter previous: whose files are not read again where they have not changed.
    public init(_ chain: FilterChain, reusing previous: LoadedFilters = LoadedFilters()) {
        for (index, setting) in chain.settings.enumerated() {
            var usable = filters.chain
            usable.append(setting)
            do throws(FilteringError) {
                filters = try LoadedFilters(usable, reusing: filters.knowing(filesOf: previous))
            } catch {
                let key = setting.path(.file) == nil ? "font" : "file"
                unusable.append(
                    UnusableFilter(
                        keyPath: "filters[\(index)].\(key)", problem: "\(error); the filter is left out",
                        setting: setting))
            }
        }
    }
}
