import Media
import USBVideo

/// The kernel's side of a webcam: what a computer asks comes out, answers and frames go in. One thread, but for `fileDescriptor`.
public protocol WebcamNode: AnyObject {
    /// To be polled: urgent or readable while there is an event.
    var fileDescriptor: Int32 { get }

    /// Whether a program of the computer's records audio.
    var isRecorded: Bool { get }

    /// - Returns: `nil` when there is none, or one without a meaning.
    /// - Throws: when the device is gone.
    func nextEvent() throws -> VideoFunction.Event?

    func answer(_ answer: ControlAnswer) throws

    /// Frames of the choice can be sent from now on.
    func start(_ choice: VideoChoice) throws

    /// Also where nothing was started: the kernel waits for it to agree to the computer's end.
    func stop()

    /// The computer is gone in the middle of frames, for which the kernel takes no end: waits for the next one.
    func reopen() throws

    /// Whether a buffer is free: the computer has taken one, or none was sent yet.
    func hasRoom() throws -> Bool

    /// Fills a free buffer and leaves it to the computer.
    /// - Parameter fill: gets the buffer, and returns how many bytes of it are the frame; 0 for none.
    /// - Returns: whether a frame was sent. Not while all buffers wait for the computer.
    func send(_ fill: (UnsafeMutableRawBufferPointer) -> Int) throws -> Bool
}
