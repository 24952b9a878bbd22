import Filters
import FrameFiltering

/// A filter of device.json whose file is missing or broken.
public struct UnusableFilter {
    /// Of the file's name in device.json: `filters[1].file`.
    public let keyPath: String
    /// What cannot be used and what becomes of it, for people.
    public let problem: String
    let setting: FilterSetting
}

extension FilterChain {
    /// Reads the files that the filters name, which takes as long as their disk does.
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
