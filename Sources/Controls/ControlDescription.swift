/// A row of the table of controls: the properties that all cameras share. A test compares docs/reference/controls.md with it.
public struct ControlDescription: Hashable, Sendable {
    /// The form of a value.
    public enum Kind: Hashable, Sendable {
        /// `on` or `off`.
        case flag
        /// One of some words.
        case word
        /// A number, or one of some words.
        case number
        /// Milliseconds or a fraction of a second, `1/50`, or one of some words.
        case time
        /// `X,Y` in the frame.
        case point
        /// `X,Y` or `X,Y,WIDTH,HEIGHT` in the frame, or one of some words.
        case area
        /// A word, `RED/BLUE` gains, or a color temperature, `5600K`.
        case whiteBalance
        /// A number for every microphone, or `N:NUMBER` for one of them.
        case microphoneNumber
        /// `on` or `off` for all audio, or `N:on`, `N:off` for one microphone.
        case microphoneFlag
    }

    public let name: ControlName
    public let kind: Kind
    /// Unit of the number; empty if it has none.
    public let unit: String
    /// Words supported by every camera that has this control; cameras may support more.
    public let words: [String]
    /// The default value; `nil` if it depends on the camera.
    public let usual: String?
    public let summary: String
    /// The corresponding controls of libcamera and V4L2.
    public let libcamera: String
    public let v4l2: String

    private init(
        _ name: ControlName, _ kind: Kind, unit: String = "", words: [String] = [], usual: String? = nil,
        _ summary: String, _ names: (libcamera: String, v4l2: String)
    ) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.words = words
        self.usual = usual
        self.summary = summary
        self.libcamera = names.libcamera
        self.v4l2 = names.v4l2
    }

    public static let all: [ControlDescription] = focus + exposure + colors + view + others

    public static func of(_ name: ControlName) -> ControlDescription {
        // A test checks that each name has a row.
        all.first { $0.name == name } ?? all[0]
    }

    private static let focus = [
        ControlDescription(
            .focus, .word, words: ["auto", "continuous", "manual"], usual: "continuous",
            "auto focuses once; manual leaves the lens where it is",
            (libcamera: "AfMode, AfTrigger", v4l2: "FOCUS_AUTO, AUTO_FOCUS_START")),
        ControlDescription(
            .focusPoint, .area, words: ["auto"], usual: "auto",
            "the area to focus on, in the visible frame; a lens at rest focuses there once",
            (libcamera: "AfMetering, AfWindows", v4l2: "none")),
        ControlDescription(
            .lens, .number, unit: "dioptres", "fixed focus at 1/N meters; 0 is infinity",
            (libcamera: "AfMode, LensPosition", v4l2: "FOCUS_ABSOLUTE, whose range stands for 0 to 10")),
    ]

    private static let exposure = [
        ControlDescription(
            .exposure, .word, words: ["auto", "locked"], usual: "auto", "locked keeps the last values",
            (libcamera: "ExposureTimeMode, AnalogueGainMode", v4l2: "EXPOSURE_AUTO, AUTOGAIN")),
        ControlDescription(
            .exposureTime, .time, unit: "ms", words: ["auto"], usual: "auto", "the exposure time of each frame",
            (libcamera: "ExposureTimeMode, ExposureTime", v4l2: "EXPOSURE_AUTO, EXPOSURE_ABSOLUTE")),
        ControlDescription(
            .gain, .number, words: ["auto"], usual: "auto", "the sensor's amplification",
            (libcamera: "AnalogueGainMode, AnalogueGain", v4l2: "AUTOGAIN, GAIN")),
        ControlDescription(
            .exposureValue, .number, unit: "EV", usual: "0",
            "makes the automatic exposure brighter or darker",
            (libcamera: "ExposureValue", v4l2: "AUTO_EXPOSURE_BIAS")),
        ControlDescription(
            .metering, .word, words: [], usual: "center", "the part of the frame that exposure is measured in",
            (libcamera: "AeMeteringMode", v4l2: "EXPOSURE_METERING")),
        ControlDescription(
            .exposurePoint, .area, words: ["auto"], "the area that exposure is measured in, in the visible frame",
            (libcamera: "none", v4l2: "none")),
    ]

    private static let colors = [
        ControlDescription(
            .whiteBalance, .whiteBalance, words: ["auto", "locked"], usual: "auto",
            "locked keeps the last values; others are the camera's lights, gains or a temperature",
            (
                libcamera: "AwbEnable, AwbMode, ColourGains",
                v4l2: "AUTO_WHITE_BALANCE, AUTO_N_PRESET_WHITE_BALANCE, WHITE_BALANCE_TEMPERATURE"
            )),
        ControlDescription(
            .brightness, .number, usual: "0", "added to every sample", (libcamera: "Brightness", v4l2: "BRIGHTNESS")),
        ControlDescription(
            .contrast, .number, usual: "1", "the difference between light and dark",
            (
                libcamera: "Contrast",
                v4l2: "CONTRAST"
            )),
        ControlDescription(
            .saturation, .number, usual: "1", "the strength of colors; 0 removes them",
            (
                libcamera: "Saturation",
                v4l2: "SATURATION"
            )),
        ControlDescription(
            .sharpness, .number, usual: "1", "edge enhancement", (libcamera: "Sharpness", v4l2: "SHARPNESS")),
        ControlDescription(
            .denoise, .word, "noise reduction", (libcamera: "NoiseReductionMode", v4l2: "none")),
    ]

    private static let view = [
        ControlDescription(
            .zoom, .number, usual: "1", "magnification, up to one sensor pixel per stream pixel",
            (
                libcamera: "ScalerCrop",
                v4l2: "ZOOM_ABSOLUTE, else the driver's crop, else a part of each frame is scaled"
            )),
        ControlDescription(
            .zoomCenter, .point, usual: "0.5,0.5",
            "the center of the visible part, in the unzoomed frame; moved inward if too close to an edge",
            (libcamera: "ScalerCrop", v4l2: "the driver's crop, else a part of each frame is scaled")),
        ControlDescription(
            .mirror, .flag, usual: "off", "swaps left and right", (libcamera: "done by Tallycam", v4l2: "HFLIP")),
        ControlDescription(
            .flip, .flag, usual: "off", "swaps top and bottom", (libcamera: "done by Tallycam", v4l2: "VFLIP")),
    ]

    private static let others = [
        ControlDescription(
            .torch, .word, words: ["off", "on", "live", "auto"], usual: "off",
            "the board's light; auto turns it on in the dark",
            (
                libcamera: "Lux reported, for auto",
                v4l2: "the mean luma of frames, for auto"
            )),
        ControlDescription(
            .webcam, .flag, "offers a camera and a microphone to a computer at the USB device port",
            (
                libcamera: "none",
                v4l2: "none"
            )),
        ControlDescription(
            .microphoneGain, .microphoneNumber, unit: "dB",
            "set by the card's capture volume if it has one, else by Tallycam", (libcamera: "none", v4l2: "none")),
        ControlDescription(
            .mute, .microphoneFlag, usual: "off", "sends silence instead of audio",
            (
                libcamera: "none",
                v4l2: "none"
            )),
    ]
}
