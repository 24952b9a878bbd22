import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the frames of another camera follow those of the present one. They may be in another memory, layout and size, and have
// other colors: each camera has encoders of its own. The next one opens while the present camera's frames go on, and takes over
// with the first frame of the next camera, which so becomes a keyframe; frames that are still in the one before come out.
extension FallbackEncoder {
    public func prepare(for frames: SourceFrames) throws -> SourcePreparation {
        try perform(succession.sourceExpected(frames))
        try advanceSuccession()
        switch succession.preparation {
        case .underWay: return .underWay
        case .ready: return .ready(layout(of: frames, for: goal.configuration).size)
        case .failed(let reason): return .failed(reason: reason)
        }
    }

    public func dropPreparation() {
        if !succession.sourceWithdrawn().isEmpty { closeSuccessor() }
    }

    public func sourceChanges(to frames: SourceFrames) throws {
        defer { succession.sourceSettled() }
        try perform(succession.sourceChanged(to: frames, situation))
    }

    /// One that does not open leaves the present one, which takes the frames as well.
    func replaceSoftware() {
        let (wanted, frames) = goal
        let successor = try? BudgetedEncoder(wanted)
        adopt(successor == nil ? configuration : wanted, scaling(to: wanted), of: frames)
        guard let successor, let present = software else { return requestKeyframe() }
        earlierConversions += present.encoder.conversionCount
        software = (successor, output.makeSource(of: frames.colors))
        if let source = software?.source { output.listen(to: source) }
    }
}
