import Media
import Settings
import StreamQuality

extension VideoQualityVocabulary {
    static let standard = VideoQualityVocabulary(
        names: VideoQuality.presets.map(\.name), kilobits: VideoQualityLimits.kilobits,
        frameRates: VideoQualityLimits.frameRates,
        named: { text in
            do throws(QualityError) {
                let quality = try VideoQuality(named: text)
                return .quality(name: quality.name, quality.bitrate)
            } catch .unknownVideoQuality {
                return .unknown
            } catch .unusableValue(_, _, let rule) {
                return .problem("\(rule), not \(quoted(text))")
            } catch {
                return .problem("\(error)")
            }
        },
        problemWithLevel: { quality, dimension in
            // A quality or dimension that cannot be used is reported by itself.
            guard let quality = try? VideoQuality(named: quality),
                let size = try? VideoDimension(parsing: dimension).size
            else { return nil }
            do throws(QualityError) {
                _ = try quality.level(for: size)
                return nil
            } catch {
                // The stream reports what a preset cannot do.
                if case .beyondLevel = error { return "\(error)" }
                return nil
            }
        })
}
