import ApplianceLogic
import Filters
import FrameFiltering
import Glibc
import JSONText
import LinuxIO
import Settings
import StreamQuality
import Transport

/// What the four files on the boot partition say. A file that is wrong does not spoil the others.
package struct DescriptionFiles {
    static let names = ["board.json", "device.json", "network.json", "stream.json"]

    package var board: BoardDescription?
    package var device = DeviceDescription()
    package var network = NetworkDescription()
    package var stream: StreamDescription?
    /// In the order of the files, errors and warnings.
    package var faults: [FileFault] = []
    /// What the contents are known by, to tell whether they have changed.
    package private(set) var streamText: [UInt8] = []
    package private(set) var deviceText: [UInt8] = []
    package private(set) var networkText: [UInt8] = []
    private var boardKeys = DescriptionKeys()
    private var deviceKeys = DescriptionKeys()
    private var networkKeys = DescriptionKeys()
    private var streamKeys = DescriptionKeys()
    /// The certificates that stream.json names, as they were looked at. Each connection reads them anew.
    private var certificates: (path: String, state: FoundFile)?
    /// The files that the filters of device.json and a pause of stream.json need, as they were looked at; `nil` for one
    /// that was not there. They are too large to be compared by their contents every few seconds.
    private var mediaFiles: [String: FileState?] = [:]
    /// The filters of device.json, as their files were then.
    package private(set) var filters = UsableFilters()
    /// As the image's maker has described it, where the card says nothing that can be used.
    package private(set) var boardOfTheImage: BoardDescription?
    /// Whether they are all that is wrong with the stream: one that is connected needs them no more.
    package private(set) var onlyCertificatesAreWrong = false

    package init() {}

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// - Parameter directory: the boot partition's.
    init(reading directory: String) {
        let boardFile = Self.read(directory, "board.json")
        if let json = take(boardFile, "board.json") {
            let decoded = BoardDescription.decode(json)
            board = decoded.value
            boardKeys = decoded.keys
            add(decoded.faults, "board.json")
        }
        if board == nil { boardOfTheImage = Self.readBoard(Self.wiringOfTheImage) }
        let deviceFile = Self.read(directory, "device.json")
        deviceText = deviceFile.bytes
        if let json = take(deviceFile, "device.json") {
            let decoded = DeviceDescription.decode(json, vocabulary: .standard)
            device = decoded.value ?? decoded.goodPart.map { DeviceDescription(defaultsBeside: $0) } ?? device
            deviceKeys = decoded.keys
            add(decoded.faults, "device.json")
        }
        tellWhetherDeviceIsIgnored()
        checkFilterFiles()
        let networkFile = Self.read(directory, "network.json")
        networkText = networkFile.bytes
        if let json = take(networkFile, "network.json") {
            let decoded = NetworkDescription.decode(json)
            network = decoded.goodPart ?? network
            networkKeys = decoded.keys
            add(decoded.faults, "network.json")
        }
        let streamFile = Self.read(directory, "stream.json")
        streamText = streamFile.bytes
        if let json = take(streamFile, "stream.json") {
            let decoded = StreamDescription.decode(json)
            stream = decoded.value?.located(in: directory)
            streamKeys = decoded.keys
            add(decoded.faults, "stream.json")
            checkCAFile()
            checkPauseImage()
        }
    }

    /// Choices are taken together or not at all: whoever sees video other than asked for learns why.
    private mutating func tellWhetherDeviceIsIgnored() {
        guard errors.contains(where: { $0.file == "device.json" }) else { return }
        let fault = DescriptionFault(
            kind: .suspicious, keyPath: "", position: .start,
            problem: "the whole file is ignored, and every choice has its default, until nothing in it is wrong; "
                + "only a console and audio that are switched off stay so")
        add([fault], "device.json")
    }

    private mutating func checkCAFile() {
        guard let path = stream?.neededCAFile else { return }
        // Before the check, so that no change goes between the two.
        certificates = (path, FoundFile(reading: path))
        guard let problem = TLSContext.problem(withAuthorityFile: path) else { return }
        onlyCertificatesAreWrong = true
        faults.append(
            fault(
                .streamFile, "stream.json", "caFile", problem,
                example: #""caFile": "server.pem" for a PEM file beside stream.json"#))
    }

    /// Whether the certificates are others by now than they were, or have come or gone.
    var certificatesHaveChanged: Bool {
        certificates.map { FoundFile(reading: $0.path) != $0.state } ?? false
    }

    /// A filter whose file is missing or broken is left out of the stream, whose viewers do not see what they should.
    private mutating func checkFilterFiles() {
        // Before they are read, so that no change goes between the two.
        for path in device.filters.settings.flatMap(\.paths) { mediaFiles[path] = .some(FileState(path)) }
        filters = UsableFilters(device.filters)
        for filter in filters.unusable {
            faults.append(fault(.settings, "device.json", filter.keyPath, filter.problem))
        }
    }

    /// A stream goes on without it, but its viewers do not see what they should when it is paused.
    private mutating func checkPauseImage() {
        guard let path = stream?.pauseImage else { return }
        mediaFiles[path] = .some(FileState(path))
        do throws(StillImageError) {
            _ = try StillImage(reading: path)
        } catch {
            let problem = "\(error); a pause shows the last frame instead"
            faults.append(fault(.settings, "stream.json", "pauseImage", problem))
        }
    }

    /// Whether files that filters or a pause need are others by now than they were, or have come or gone.
    var mediaFilesHaveChanged: Bool { mediaFiles.contains { FileState($0.key) != $0.value } }

    /// Whether the file that stream.json names for a pause is another one than `previous` found there.
    package func hasOtherPauseImage(than previous: DescriptionFiles) -> Bool {
        guard let path = stream?.pauseImage, path == previous.stream?.pauseImage else { return false }
        return mediaFiles[path] != previous.mediaFiles[path]
    }

    /// Whether a file that `previous` could not use can be used now, so that a stream would have a filter more.
    package func canUseMoreFilters(than previous: DescriptionFiles) -> Bool {
        func unusableFiles(_ filters: UsableFilters) -> Set<String> { Set(filters.unusable.flatMap(\.setting.paths)) }
        return !unusableFiles(previous.filters).isSubset(of: unusableFiles(filters))
    }

    /// Takes a description of the board from elsewhere, in place of one that could not be read.
    package mutating func takeBoard(_ other: BoardDescription?) {
        board = other
        boardKeys = DescriptionKeys()
    }

    /// A fault that shows only when the description is followed, with the place of the key that can mend it.
    package func fault(
        _ kind: ApplianceFault, _ file: String, _ key: String, _ problem: String, example: String? = nil
    ) -> FileFault {
        let keys =
            switch file {
            case "board.json": boardKeys
            case "device.json": deviceKeys
            case "network.json": networkKeys
            default: streamKeys
            }
        return FileFault(
            kind: kind, file: file,
            fault: DescriptionFault(
                kind: .unavailable, keyPath: key, position: keys.position(of: key), problem: problem,
                example: example ?? keys.example(of: key)))
    }

    /// Whether the stream's key stands apart from its URL.
    package var hasStreamKey: Bool { streamKeys.has("key") }

    var errors: [FileFault] { faults.filter { !$0.fault.isWarning } }

    /// Choices that are right by themselves and that this board cannot do.
    package var contradictions: [FileFault] {
        guard let board, board.flashLED == nil else { return [] }
        let choices = [
            ("torch", device.torch.rawValue, instead: "off"),
            ("snapshots.flash", device.snapshots.flash.rawValue, instead: "off"),
            ("doublePress", device.doublePress == .torch ? "torch" : "none", instead: "none"),
        ]
        return choices.filter { $0.1 != $0.instead }.map { key, value, instead in
            fault(
                .settings, "device.json", key, "is \"\(value)\", but board.json names no flash LED",
                example: "\"\(key.split(separator: ".").last ?? "")\": \"\(instead)\"")
        }
    }

    private static func kind(of file: String) -> ApplianceFault {
        switch file {
        case "stream.json": .streamFile
        case "board.json": .board
        default: .settings
        }
    }

    /// The board's wiring as the image was made for it.
    private static let wiringOfTheImage = "/etc/tallycam/board.json"

    /// `nil` when the file is missing or wrong.
    private static func readBoard(_ path: String) -> BoardDescription? {
        SettingsFile(reading: path, isRequired: false, example: BoardDescription.example).json.flatMap {
            BoardDescription.decode($0).value
        }
    }

    /// The good part of the file: a device that only the network leads to must not lose it by a wrong key beside it.
    static func readNetwork(_ path: String) -> (NetworkDescription, [DescriptionFault]) {
        let file = SettingsFile(reading: path, isRequired: true, example: NetworkDescription.example)
        guard let json = file.json else { return (NetworkDescription(), file.fault.map { [$0] } ?? []) }
        let decoded = NetworkDescription.decode(json)
        return (decoded.goodPart ?? NetworkDescription(), decoded.faults)
    }

    // MARK: One file

    private static func read(_ directory: String, _ name: String) -> SettingsFile {
        // Without choices of one's own there are defaults; without a place to publish to, or a board, there are none.
        let example =
            switch name {
            case "board.json": BoardDescription.example
            case "device.json": DeviceDescription.example
            case "network.json": NetworkDescription.example
            default: StreamDescription.example
            }
        return SettingsFile(
            reading: "\(directory)/\(name)", isRequired: name == "stream.json" || name == "board.json",
            example: example)
    }

    private mutating func take(_ file: SettingsFile, _ name: String) -> JSONValue? {
        if let fault = file.fault { add([fault], name) }
        return file.json
    }

    private mutating func add(_ new: [DescriptionFault], _ file: String) {
        // Garbage may have very many; the first ones are enough to start with.
        faults += new.prefix(50).map { FileFault(kind: Self.kind(of: file), file: file, fault: $0) }
    }
}

extension DeviceVocabulary {
    /// The qualities and sizes that this program has.
    public static let standard = DeviceVocabulary(
        videoQualities: VideoQuality.allCases.map(\.name), audioQualities: AudioQuality.presets.map(\.name),
        problemWithDimension: { text in
            do {
                _ = try VideoDimension(parsing: text)
                return nil
            } catch {
                return "\(error)"
            }
        })
}
