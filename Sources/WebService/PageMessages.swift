import HTTP
import PageLogic
import RecordingLogic

/// A request that the device answers, on its way from the thread "page" to the main thread.
package struct PageOrder: Sendable {
    package enum Purpose: Sendable {
        /// A line of the console; the answer is the JSON form.
        case command(String)
        case plainStatus
        case metrics
        /// Everything that helps to find a fault, without secrets.
        case support
        /// - Parameter insteadOf: hashes of the secrets that the browser has sent.
        case beginPairing(Pairing.Attempt, insteadOf: [[UInt8]])
        /// - Parameter 0: hashes of the secrets that the browser has sent.
        case lookAtPairing([[UInt8]])
        case listFiles
        case readFile(String)
        /// - Parameter replaces: the tag of the version that the browser has edited; `nil` for a file that must not exist yet.
        case writeFile(String, [UInt8], replaces: String?)
        /// - Parameter current: the id of the browser that asks.
        case listKeys(current: String)
        case revokeKey(String)
        /// Whether a browser follows the events. Not answered.
        case eventsWanted(Bool)
        /// How many browsers show the preview. Not answered.
        case viewersChanged(Int)
        /// For the log. Not answered.
        case trouble(String)
    }

    /// The connection that waits for the answer.
    package let id: UInt64
    package let purpose: Purpose
}

/// From the main thread to the thread "page".
package enum PageNotice: Sendable {
    /// - Parameter 0: the connection of the order.
    case answer(UInt64, HTTPResponse)
    case keysChanged(BrowserKeys)
    /// The device's names in the network, in lower case.
    case namesChanged(Set<String>)
    /// A JSON object for those who follow the events.
    case event([UInt8])
    /// Where recordings are.
    case recordingsMoved(RecordingPlace)
    /// Why there is no picture; `nil` if there may be one.
    case previewProblem(String?)
    case end
}
