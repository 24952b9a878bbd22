import DevicePorts
import Media

/// What a camera is set to for a live stream where its settings do not say otherwise: libcamera's own defaults are for an
/// application with a person at its controls (docs/explain/capture.md has the reasons).
enum StreamingDefaults {
    private struct Default {
        let name: String
        let value: String
        /// Whoever sets one of these has other plans.
        var rivals: [String] = []
    }

    /// - Returns: settings that the camera takes, in the order in which they are to be set.
    static func controls(beside settings: CameraSettings, offered: [CameraControl]) -> [CameraSettings.Control] {
        let chosen = Set(settings.controls.map(\.name))
        return defaults(settings.mains)
            .filter { $0.rivals.allSatisfy { !chosen.contains($0) } && !chosen.contains($0.name) }
            .filter { wanted in offered.contains { $0.name == wanted.name && $0.values(wanted.value) != nil } }
            .map { CameraSettings.Control(name: $0.name, value: $0.value) }
    }

    private static func defaults(_ mains: MainsFrequency?) -> [Default] {
        var defaults = [
            // Nobody is there to trigger it. A lens position is for a lens that stands still.
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
    /// Whether the lens follows by itself with it.
    var isContinuousFocus: Bool { name == "AfMode" && value == "AfModeContinuous" }
}
