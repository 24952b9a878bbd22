import DevicePorts
import JSONText
import LibcameraCapture
import Media
import StreamLogic
import V4L2Devices

/// A camera with everything that `tallycam cameras` lists of it.
package struct CameraListing {
    /// Same form as for `--video`.
    let source: String
    let name: String
    let location: String?
    /// libcamera's id.
    let id: String?
    /// For all modes together, if the individual modes do not have rates.
    let frameRates: ClosedRange<Double>?
    let modes: [(format: FourCC, size: String, framesPerSecond: Int?)]
    let controls: [Control]
    /// The frame size that the ranges apply to; `nil` for all sizes.
    var rangesAt: FrameSize?
    /// Why the ranges are not the camera's own.
    var rangesProblem: String?

    struct Control {
        let name: String
        let kind: String
        /// `nil` if it is not a single number.
        let range: (minimum: Double, maximum: Double)?
        let possible: String
        var choices: [String] = []
        /// Number of values it takes; `nil` for any number.
        var count: Int? = 1
    }

    package init(_ camera: CameraDescription) {
        source = "libcamera:\(camera.id)"
        name = camera.model
        id = camera.id
        location = camera.location.map { "\($0)" }
        frameRates = camera.frameRates
        switch camera.ranges {
        case .unconfigured: break
        case .configured(let size): rangesAt = size
        case .unknown(let problem): rangesProblem = "\(problem)"
        }
        modes = camera.modes.map { mode in
            let size = mode.smallest == mode.largest ? "\(mode.largest)" : "\(mode.smallest)-\(mode.largest)"
            return (mode.format, size, nil)
        }
        controls = camera.controls.map {
            Control(
                name: $0.name, kind: $0.kind.rawValue, range: $0.range, possible: $0.possibleValues,
                choices: $0.choices.map(\.name), count: $0.count)
        }
    }

    package init(_ camera: V4L2CameraDescription) {
        source = "v4l2:\(camera.path)"
        name = camera.name
        id = nil
        location = nil
        frameRates = nil
        modes = camera.modes.map { ($0.format, "\($0.size)", $0.framesPerSecond > 0 ? $0.framesPerSecond : nil) }
        controls = camera.controls.map {
            Control(
                name: $0.name, kind: $0.kind.rawValue, range: (Double($0.minimum), Double($0.maximum)),
                possible: $0.possibleValues)
        }
    }

    package var text: String {
        var lines = ["\(source)  \(name)\(location.map { ", \($0)" } ?? "")"]
        for format in modes.map(\.format).reduce(into: [FourCC](), { if !$0.contains($1) { $0.append($1) } }) {
            let sizes = modes.filter { $0.format == format }
                .map { mode in mode.size + (mode.framesPerSecond.map { " at \($0) fps" } ?? "") }
            lines.append("  \(format): \(sizes.joined(separator: ", "))")
        }
        if let rangesAt { lines.append("  at \(rangesAt):") }
        if let rangesProblem { lines.append("  ranges unknown, these are libcamera's widest: \(rangesProblem)") }
        if let frameRates {
            let rates = [frameRates.lowerBound, frameRates.upperBound].map { fixed($0, decimals: 1) }
            lines.append("  \(rates[0]) to \(rates[1]) frames per second")
        }
        lines += controls.map { "  \($0.name)=\($0.possible)" }
        return lines.joined(separator: "\n")
    }

    package var json: [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("source", source)
            if let id { object.write("id", id) } else { object.writeNull("id") }
            object.write("model", name)
            if let location { object.write("location", location) } else { object.writeNull("location") }
            if let rangesAt { object.write("rangesAt", "\(rangesAt)") } else { object.writeNull("rangesAt") }
            if let rangesProblem { object.write("rangesProblem", rangesProblem) }
            if let frameRates {
                object.write("slowestFPS", frameRates.lowerBound)
                object.write("fastestFPS", frameRates.upperBound)
            }
            object.writeArray("modes") { list in
                for mode in modes {
                    list.writeObject { entry in
                        entry.write("format", "\(mode.format)")
                        entry.write("size", mode.size)
                        if let rate = mode.framesPerSecond { entry.write("fps", rate) }
                    }
                }
            }
            object.writeArray("controls") { list in
                for control in controls { list.writeObject { control.write(to: $0) } }
            }
        }
    }
}

extension CameraListing.Control {
    fileprivate func write(to entry: borrowing JSONObjectWriter) {
        entry.write("name", name)
        entry.write("type", kind)
        if let range {
            entry.write("minimum", range.minimum)
            entry.write("maximum", range.maximum)
        } else {
            entry.writeNull("minimum")
            entry.writeNull("maximum")
        }
        entry.write("possible", possible)
        if let count { entry.write("count", count) } else { entry.writeNull("count") }
        if choices.isEmpty { return }
        entry.writeArray("values") { list in for choice in choices { list.write(choice) } }
    }
}
