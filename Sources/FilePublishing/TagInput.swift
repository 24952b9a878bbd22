import Bitstream
import StreamLogic

/// The next item of an encoded file.
enum TagRead {
    case tag(FLVTag)
    /// No data yet.
    case late
    case end
}

/// An encoded file, read tag by tag. Used from one thread.
protocol TagInput: AnyObject {
    /// Readable when there may be more after `late`.
    var fileDescriptor: Int32 { get }
    /// What a person should know about the file.
    var notes: [String] { get }
    func next() throws(StreamFailure) -> TagRead
}
