import Media
import StreamQuality
import Testing

@testable import Publishing

@Suite struct PublishDestinationTests {
    private func destination(_ host: String) -> PublishDestinations { destinations([host]) }

    private func destinations(_ hosts: [String]) -> PublishDestinations {
        let all = hosts.map {
            PublishDestination(url: RTMPURL(scheme: .rtmps, host: $0, application: "live", streamName: "key"))
        }
        return PublishDestinations(all)
    }

    @Test(arguments: [
        ("a.rtmp.youtube.com", ResizePolicy.restart), ("live.twitch.tv", .never),
        ("live-api-s.facebook.com", .never), ("live.example", .seamless),
    ]) func theServiceSaysHowTheFrameSizeMayChange(host: String, fitting: ResizePolicy) {
        let destination = destination(host)
        #expect(destination.usualResizePolicy == fitting)
        #expect(destination.warning(of: fitting) == nil)
        #expect(destination.warning(of: .never) == nil)
    }

    /// An unusual setting is kept, with a warning.
    @Test func whatTheServiceMayNotTakeIsWarnedOf() {
        let (youTube, twitch) = (destination("a.rtmp.youtube.com"), destination("live.twitch.tv"))
        #expect(youTube.warning(of: .seamless)?.hasPrefix("YouTube may not follow") == true)
        #expect(twitch.warning(of: .seamless)?.hasPrefix("Twitch may not follow") == true)
        #expect(twitch.warning(of: .restart)?.contains("end the broadcast") == true)
    }
}
