import Media
import USBVideo

/// The kernel's side of a webcam: it reports the computer's requests, and accepts answers and frames. Used from one
/// thread, except for `fileDescriptor`.
public protocol WebcamNode: AnyObject {
    /// For polling: urgent or readable while there is an event.
    var fileDescriptor: Int32 { get }

    /// Whether a program on the computer records audio.
    var isRecorded: Bool { get }

    /// - Returns: `nil` if there is no event, or an irrelevant one.
    /// - Throws: if the device is gone.
    func nextEvent() throws -> VideoFunction.Event?

    func answer(_ answer: ControlAnswer) throws

    /// Starts frames of this choice.
    func start(_ choice: VideoChoice) throws

    /// Required even if nothing was started, since the kernel waits for it before it confirms the end to the computer.
    func stop()

    /// The computer disappeared during a stream, which the kernel cannot end normally: reopen the device and wait for
    /// the next computer.
    func reopen() throws

    /// Whether a buffer is free: the computer has taken one, or none has been sent yet.
    func hasRoom() throws -> Bool

    /// Fills a free buffer and passes it to the computer.
    /// - Parameter fill: receives the buffer and returns the frame's size in bytes; 0 for no frame.
    /// - Returns: whether a frame was sent. False while the computer has not taken any buffer.
    func send(_ fill: (UnsafeMutableRawBufferPointer) -> Int) throws -> Bool
}
