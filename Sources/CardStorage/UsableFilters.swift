import Filters
import FrameFiltering

/// A filter from device.json whose file is missing or broken.
public struct UnusableFilter: Sendable {
    /// The key in device.json that names the file: `filters[1].file`.
    public let keyPath: String
    /// What is wrong with the file, and that the filter is skipped. Text for people.
    public let problem: String
    let setting: FilterSetting
}

/// device.json's filters with their files. A filter whose file is unusable is skipped, because the stream is more important.
public struct UsableFilters: Sendable {
    public private(set) var filters = LoadedFilters()
    public private(set) var unusable: [UnusableFilter] = []

    /// No filters.
    init() {}

    /// Reads files and blocks as long as their disk does.
    /// - Parameter previous: files that have not changed since are taken from here.
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
                        keyPath: "filters[\(index)].\(key)", problem: "\(error); the filter is skipped",
                        setting: setting))
            }
        }
    }
}
