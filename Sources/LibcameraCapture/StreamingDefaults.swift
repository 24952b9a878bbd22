import DevicePorts
import Media

/// A camera's settings for a live stream, unless the configuration says otherwise. libcamera's own defaults assume a person at
/// the controls (docs/explain/capture.md has the reasons).
enum StreamingDefaults {
    private struct Default {
        let name: String
        let value: String
        /// If one of these controls is set, this default does not apply.
        var rivals: [String] = []
    }

    /// - Returns: settings that the camera accepts, in the order to apply them.
    static func controls(beside settings: CameraSettings, offered: [CameraControl]) -> [CameraSettings.Control] {
        let chosen = Set(settings.controls.map(\.name))
        return defaults(settings.mains)
            .filter { $0.rivals.allSatisfy { !chosen.contains($0) } && !chosen.contains($0.name) }
            .filter { wanted in offered.contains { $0.name == wanted.name && $0.values(wanted.value) != nil } }
            .map { CameraSettings.Control(name: $0.name, value: $0.value) }
    }

    private static func defaults(_ mains: MainsFrequency?) -> [Default] {
        var defaults = [
            // A live stream has no operator to trigger autofocus. A lens position only makes sense for a fixed lens.
            Default(name: "AfMode", value: "AfModeContinuous", rivals: ["LensPosition"]),
            Default(name: "NoiseReductionMode", value: "NoiseReductionModeFast"),
        ]
        if let mains {
            let rivals = ["AeFlickerMode", "AeFlickerPeriod"]
            defaults += [
                Default(name: "AeFlickerPeriod", value: "\(mains.flickerMicroseconds)", rivals: rivals),
                Default(name: "AeFlickerMode", value: "FlickerManual", rivals: rivals),
            ]
        }
        return defaults
    }
}

extension CameraSettings.Control {
    /// Whether this setting makes the lens focus continuously.
    var isContinuousFocus: Bool { name == "AfMode" && value == "AfModeContinuous" }
}
