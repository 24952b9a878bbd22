import Media
import StreamQuality
import Testing

@testable import Publishing

@Suite struct PublishDestinationTests {
    private func policy(_ asked: ResizePolicy?, host: String) -> (ResizePolicy, warnings: [String]) {
        let url = RTMPURL(scheme: .rtmps, host: host, application: "live", streamName: "key")
        var warnings: [String] = []
        return (PublishDestination(url: url).resizePolicy(asked: asked, warnings: &warnings), warnings)
    }

    @Test(arguments: [
        ("a.rtmp.youtube.com", ResizePolicy.restart), ("live.twitch.tv", .never),
        ("live-api-s.facebook.com", .never), ("live.example", .seamless),
    ]) func theServiceSaysHowTheFrameSizeMayChange(host: String, fitting: ResizePolicy) {
        #expect(policy(nil, host: host).0 == fitting)
        #expect(policy(nil, host: host).warnings.isEmpty)
    }

    /// Who asks gets it, and learns what it may do.
    @Test func whatTheServiceMayNotTakeIsWarnedOf() {
        for policy in ResizePolicy.allCases {
            #expect(self.policy(policy, host: "a.rtmp.youtube.com").0 == policy)
            #expect(self.policy(policy, host: "live.example").warnings.isEmpty)
        }
        #expect(policy(.never, host: "live.twitch.tv").warnings.isEmpty)
        #expect(policy(.restart, host: "a.rtmp.youtube.com").warnings.isEmpty)
        #expect(
            policy(.seamless, host: "a.rtmp.youtube.com").warnings.first?.hasPrefix("YouTube may not follow") == true)
        #expect(policy(.seamless, host: "live.twitch.tv").warnings.first?.hasPrefix("Twitch may not follow") == true)
        #expect(policy(.restart, host: "live.twitch.tv").warnings.first?.contains("end the broadcast") == true)
    }
}
