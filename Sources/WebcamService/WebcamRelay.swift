import DevicePorts
import Media
import Synchronization

/// Passes frames and audio to a webcam, if there is one. Streams hold it while webcams come and go. Any thread.
package final class WebcamRelay: FrameSink, AudioSink {
    private let target = Mutex<(any WebcamSink)?>(nil)
    private let isAgreed = Mutex(false)
    private let isSilent = Mutex(false)

    /// `nil` while webcam mode is off.
    package var sink: (any WebcamSink)? {
        get { target.withLock { $0 } }
        set {
            // Release the former sink outside of the lock.
            let former = target.withLock { target in
                defer { target = newValue }
                return target
            }
            withExtendedLifetime(former) {}
        }
    }

    /// Whether someone at the camera has agreed, or consent is not needed.
    package var isAllowed: Bool {
        get { isAgreed.withLock { $0 } }
        set { isAgreed.withLock { $0 = newValue } }
    }

    /// Whether someone at the camera has muted the audio. Muting a stream also mutes the computer.
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
