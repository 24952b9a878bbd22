import DevicePorts
import Media
import Synchronization

/// Frames and audio for a computer, where there is one: streams keep it while webcams come and go. Any thread.
package final class WebcamRelay: FrameSink, AudioSink {
    private let target = Mutex<(any WebcamSink)?>(nil)
    private let isAgreed = Mutex(false)
    private let isSilent = Mutex(false)

    /// `nil` while the camera is no webcam.
    package var sink: (any WebcamSink)? {
        get { target.withLock { $0 } }
        set {
            // What is replaced is let go of outside of the lock.
            let former = target.withLock { target in
                defer { target = newValue }
                return target
            }
            withExtendedLifetime(former) {}
        }
    }

    /// Somebody at the camera has agreed, or nobody has to.
    package var isAllowed: Bool {
        get { isAgreed.withLock { $0 } }
        set { isAgreed.withLock { $0 = newValue } }
    }

    /// Somebody at the camera has muted it. A stream's mute is heard by the computer as well.
    package var isMuted: Bool {
        get { isSilent.withLock { $0 } }
        set { isSilent.withLock { $0 = newValue } }
    }

    package var wantsFrames: Bool { isAllowed && sink?.wantsFrames ?? false }
    package func offer(_ frame: CapturedFrame, colors: VideoColors?) {
        if isAllowed { sink?.offer(frame, colors: colors) }
    }
    package func framesEnded() { sink?.framesEnded() }
    package var wantsAudio: Bool { isAllowed && sink?.wantsAudio ?? false }
    package func offer(_ block: AudioBlock, format: AudioFormat) {
        if isAllowed { sink?.offer(isMuted ? block.silenced : block, format: format) }
    }
}
