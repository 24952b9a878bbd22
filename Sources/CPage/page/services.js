// Services by their address: docs/services.

export const services = [
  { name: "YouTube", url: "rtmps://a.rtmps.youtube.com/live2", host: /(^|\.)youtube\.com$/, key: "YouTube Studio: Create, Go live, Stream" },
  { name: "Twitch", url: "rtmps://ingest.global-contribute.live-video.net/app", host: /(^|\.)(live-video\.net|twitch\.tv)$/,
    key: "Creator Dashboard: Settings, Stream" },
  { name: "Facebook", url: "rtmps://live-api-s.facebook.com:443/rtmp/", host: /(^|\.)facebook\.com$/,
    key: "Live Producer: streaming software" },
];

/** The service of an address; undefined for an address of another server, or none. */
export function serviceOf(url) {
  const host = /^rtmps?:\/\/(?:[^@/]*@)?([^/:]+)/i.exec(url ?? "")?.[1]?.toLowerCase();
  return host && services.find((service) => service.host.test(host));
}
