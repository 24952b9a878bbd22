import Filters
import FrameFiltering

/// A filter of device.json whose file is missing or broken.
public struct UnusableFilter {
    /// The key of device.json that names the file: `filters[1].file`.
    public let keyPath: String
    /// What is wrong with the file and that the filter is left out, in words for people.
    public let problem: String
    let setting: FilterSetting
}

extension FilterChain {
    /// Reads the files that the filters name, and blocks as long as their disk does.
    public func unusableFilters() -> [UnusableFilter] {
        var loaded = LoadedFilters()
        var unusable: [UnusableFilter] = []
        for (index, setting) in settings.enumerated() {
            var chain = loaded.chain
            chain.append(setting)
            do throws(FilteringError) {
                loaded = try LoadedFilters(chain, reusing: loaded)
            } catch {
                let key = setting.path(.file) == nil ? "font" : "file"
                unusable.append(
                    UnusableFilter(
                        keyPath: "filters[\(index)].\(key)", problem: "\(error); the filter is left out",
                        setting: setting))
            }
        }
        return unusable
    }
}
