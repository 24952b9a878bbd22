import Media

/// Names and limits defined by other modules, for checking a file that uses them.
public struct DeviceVocabulary: Sendable {
    public var videoQualities: VideoQualityVocabulary
    public var audioQualities: [String]
    /// What is wrong with a frame dimension; `nil` if it is valid.
    public var problemWithDimension: @Sendable (String) -> String?

    public init(
        videoQualities: VideoQualityVocabulary, audioQualities: [String],
        problemWithDimension: @escaping @Sendable (String) -> String?
    ) {
        self.videoQualities = videoQualities
        self.audioQualities = audioQualities
        self.problemWithDimension = problemWithDimension
    }
}

/// The video qualities: named ones, and bit rates in numbers.
public struct VideoQualityVocabulary: Sendable {
    /// Lowest first.
    public var names: [String]
    /// The limits of a bit rate in numbers.
    public var kilobits: ClosedRange<Int>
    public var frameRates: ClosedRange<Int>
    /// The bit rate of a name or text such as "4.5M@60", and its usual name; or what is wrong with it.
    public var named: @Sendable (String) -> VideoQualityMeaning
    /// Why a quality cannot be used for frames of a dimension; `nil` if it can.
    public var problemWithLevel: @Sendable (_ quality: String, _ dimension: String) -> String?

    public init(
        names: [String], kilobits: ClosedRange<Int>, frameRates: ClosedRange<Int>,
        named: @escaping @Sendable (String) -> VideoQualityMeaning,
        problemWithLevel: @escaping @Sendable (_ quality: String, _ dimension: String) -> String?
    ) {
        self.names = names
        self.kilobits = kilobits
        self.frameRates = frameRates
        self.named = named
        self.problemWithLevel = problemWithLevel
    }
}

public enum VideoQualityMeaning: Hashable, Sendable {
    case quality(name: String, Bitrate)
    case unknown
    /// The text is a bit rate, but not one that can be used.
    case problem(String)
}
